// The grants of the OAuth token endpoint: which token an agent gets, or why none (docs/design/agents.md §5). Returns values, no HTTP.

import { DAY_MS } from '../base/durations.ts'
import { isSecret } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'
import type { Assertions, SignedAssertion } from './assertions.ts'
import type { AgentDeps } from './deps.ts'
import type { Invites } from './invites.ts'
import type { Ownership } from './ownership.ts'
import { isAlive, type Registration } from './records.ts'
import type { Registrations } from './registrations.ts'
import { type AgentTokens, AUDIENCE_SCOPES, SENDING_SCOPE, type TokenAudience } from './tokens.ts'

/** The requested audience and scopes. */
export interface GrantRequest {
  audience: TokenAudience
  /** Null: all scopes of the audience. */
  scopes: readonly string[] | null
}

/** Why no token is issued. */
export type GrantRefusal =
  | 'invalid_grant'
  | 'invalid_scope'
  /** The inbox is still being set up. */
  | 'provisioning'
  /** The owner has not approved yet, or has revoked the approval. */
  | 'pending'
  /** As `pending`, but polled too often. */
  | 'slow_down'
  /** No owner was invited yet. */
  | 'not_invited'
  | 'declined'
  /** The invitation, or the claim token itself, has expired. */
  | 'invite_expired'
  | 'claim_expired'

export type GrantResult =
  | { kind: 'granted'; token: string; scopes: readonly string[]; assertion: SignedAssertion | null }
  | { kind: 'refused'; why: GrantRefusal }

interface Deps extends AgentDeps {
  registrations: Registrations
  tokens: AgentTokens
  assertions: Assertions
  invites: Pick<Invites, 'latest'>
  ownership: Pick<Ownership, 'noteSendingAsked'>
}

/** An assertion of version 2 is renewed when it expires within this time. */
const RENEW_MS = 30 * DAY_MS
/** More polls than this within `PENDING_MS` are answered with `slow_down` (docs/design/agents.md §5). */
const PENDING_MAX = 5
const PENDING_MS = 10_000
/** Agents whose polls are tracked at the same time. */
const POLLERS_MAX = 10_000

export class Grants {
  readonly #deps: Deps
  readonly #polls = new Map<number, number[]>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Grants a token for an identity assertion (RFC 7523). */
  async byAssertion(assertion: string, request: GrantRequest): Promise<GrantResult> {
    const { assertions, registrations } = this.#deps
    const read = await assertions.read(assertion)
    if (read === undefined) return refused('invalid_grant')
    const granted = await this.#issue(request, (tx) => registrations.byId(tx, read.registrationId), {
      // An assertion that leaked before the owner's decision must not gain sending by that decision.
      barred: read.version === 1,
    })
    const isEnding = read.version === 2 && read.expiresAt - this.#deps.clock.now() <= RENEW_MS
    return isEnding ? this.#withAssertion(granted) : granted
  }

  /** Grants a token for a claim token, which the agent polls with until the owner has approved. */
  async byClaim(token: string, request: GrantRequest): Promise<GrantResult> {
    if (!isSecret(token)) return refused('invalid_grant')
    const granted = await this.#issue(request, (tx) => this.#deps.registrations.byClaim(tx, token), { claims: true })
    return this.#withAssertion(granted)
  }

  /** Exchanges a durable token for an access token (RFC 8693). */
  async byExchange(token: string, request: GrantRequest): Promise<GrantResult> {
    if (!isSecret(token)) return refused('invalid_grant')
    return this.#issue(request, (tx) => this.#deps.registrations.byDurable(tx, token), {})
  }

  /** Reads the registration and writes the token in one unit of work, so that a concurrent revocation revokes the token too. */
  async #issue(
    request: GrantRequest,
    find: (tx: Tx) => Registration | undefined,
    how: { barred?: boolean; claims?: boolean },
  ): Promise<GrantResult & { registration?: Registration }> {
    const issued = await this.#deps.db.write((tx) => {
      const registration = find(tx)
      const why = this.#refusalOf(tx, registration, request, how)
      if (why === 'pending' && registration?.state === 'accepted') {
        this.#deps.ownership.noteSendingAsked(tx, registration)
      }
      if (why !== null) return { why, registration }
      const scopes = scopesOf(request, registration!.state === 'approved' && how.barred !== true)
      const token = this.#deps.tokens.mint(tx, registration!.n, request.audience, scopes)
      return { why: null, token, scopes, registration: registration! }
    })
    if (issued.why === null) {
      const { token, scopes, registration } = issued
      return { kind: 'granted', token, scopes, assertion: null, registration }
    }
    const isPending = issued.why === 'pending' && issued.registration !== undefined
    return refused(isPending && this.#pollsTooOften(issued.registration!.n) ? 'slow_down' : issued.why)
  }

  #refusalOf(
    tx: Tx,
    registration: Registration | undefined,
    request: GrantRequest,
    { barred = false, claims = false }: { barred?: boolean; claims?: boolean },
  ): GrantRefusal | null {
    const { audience, scopes } = request
    if (registration === undefined || registration.state === 'revoked') return 'invalid_grant'
    const isExpired = registration.claimExpiresAt !== null && registration.claimExpiresAt <= this.#deps.clock.now()
    if (claims && isExpired) return 'claim_expired'
    if (!isAlive(registration)) return claims ? 'claim_expired' : 'invalid_grant'
    if (scopes?.length === 0 || scopes?.some((scope) => !AUDIENCE_SCOPES[audience].includes(scope)))
      return 'invalid_scope'
    if (registration.provisionedAt === null) return 'provisioning'
    const isForSending = scopesOf(request, false).includes(SENDING_SCOPE)
    if (registration.state === 'approved') return barred && isForSending ? 'invalid_grant' : null
    if (!isForSending && !claims) return null
    return claims ? this.#inviteRefusal(tx, registration) : 'pending'
  }

  /** The refusal that reports the state of the last invitation to a polling agent. */
  #inviteRefusal(tx: Tx, registration: Registration): GrantRefusal {
    if (registration.state === 'accepted') return 'pending'
    const invite = this.#deps.invites.latest(tx, registration.n)
    if (invite === undefined) return 'not_invited'
    if (invite.state === 'declined') return 'declined'
    return invite.state === 'expired' ? 'invite_expired' : 'pending'
  }

  async #withAssertion(granted: GrantResult & { registration?: Registration }): Promise<GrantResult> {
    if (granted.kind === 'refused' || granted.registration === undefined) return granted
    const { id, email } = granted.registration
    return { ...granted, assertion: await this.#deps.assertions.sign(id, email, 2) }
  }

  #pollsTooOften(registration: number): boolean {
    const now = this.#deps.clock.now()
    const recent = (this.#polls.get(registration) ?? []).filter((time) => time > now - PENDING_MS)
    this.#polls.delete(registration)
    this.#polls.set(registration, [...recent.slice(-PENDING_MAX), now])
    if (this.#polls.size > POLLERS_MAX) this.#polls.delete(this.#polls.keys().next().value!)
    return recent.length >= PENDING_MAX
  }
}

/** Without named scopes all of the resource; at the tools, sending only where an owner allows it. */
function scopesOf({ audience, scopes }: GrantRequest, maySend: boolean): readonly string[] {
  if (scopes !== null || audience !== 'mcp' || maySend) return scopes ?? AUDIENCE_SCOPES[audience]
  return AUDIENCE_SCOPES.mcp.filter((scope) => scope !== SENDING_SCOPE)
}

function refused(why: GrantRefusal): GrantResult {
  return { kind: 'refused', why }
}
