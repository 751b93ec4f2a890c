// What the token endpoint decides: who gets which token for what, and why not yet (decisions §11.7). It answers with values only.

import { isSecret } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'
import type { Assertions, SignedAssertion } from './assertions.ts'
import type { AgentParts } from './deps.ts'
import type { Invites } from './invites.ts'
import { isAlive, type Registration } from './records.ts'
import type { Registrations } from './registrations.ts'
import { type AgentTokens, AUDIENCE_SCOPES, type Audience } from './tokens.ts'

/** What is asked for beside the credential. */
export interface Wish {
  audience: Audience
  /** Null: all the resource has for agents. */
  scopes: readonly string[] | null
}

/** Why no token is given. */
export type Refusal =
  | 'invalid_grant'
  | 'invalid_scope'
  /** The inbox is being set up. */
  | 'provisioning'
  /** An owner has not allowed it yet, or does not any more. */
  | 'pending'
  /** The same, asked too often. */
  | 'slow_down'
  /** Nobody was invited yet. */
  | 'not_invited'
  | 'declined'
  /** The invitation, or the claim token itself, is over. */
  | 'invite_expired'
  | 'claim_expired'

export type Granted =
  | { kind: 'granted'; token: string; scopes: readonly string[]; assertion: SignedAssertion | null }
  | { kind: 'refused'; why: Refusal }

interface Parts extends AgentParts {
  registrations: Registrations
  tokens: AgentTokens
  assertions: Assertions
  invites: Pick<Invites, 'latest'>
}

const DAY_MS = 86_400_000
/** An assertion that may send is renewed in its last days. */
const RENEW_MS = 30 * DAY_MS
/** More answers than this in that time, and an agent is told to slow down (decisions §11.7). */
const PENDING_MAX = 5
const PENDING_MS = 10_000
/** Agents whose polls are remembered at once. */
const POLLERS_MAX = 10_000

export class Grants {
  readonly #parts: Parts
  readonly #polls = new Map<number, number[]>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** An assertion of identity for a token (RFC 7523). */
  async byAssertion(assertion: string, wish: Wish): Promise<Granted> {
    const { assertions, registrations } = this.#parts
    const read = await assertions.read(assertion)
    if (read === undefined) return refused('invalid_grant')
    const granted = await this.#give(wish, (tx) => registrations.byId(tx, read.registrationId), {
      // What leaked before the owner decided must not gain sending by her decision.
      barred: read.version === 1 && wish.audience === 'send',
    })
    const isEnding = read.version === 2 && read.expiresAt - this.#parts.clock.now() <= RENEW_MS
    return isEnding ? this.#withAssertion(granted) : granted
  }

  /** The claim token, polled until the owner has approved. */
  async byClaim(token: string, wish: Wish): Promise<Granted> {
    if (!isSecret(token)) return refused('invalid_grant')
    const granted = await this.#give(wish, (tx) => this.#parts.registrations.byClaim(tx, token), { claims: true })
    return this.#withAssertion(granted)
  }

  /** A durable token for one that may send (RFC 8693). */
  async byExchange(token: string, wish: Wish): Promise<Granted> {
    if (!isSecret(token)) return refused('invalid_grant')
    return this.#give(wish, (tx) => this.#parts.registrations.byDurable(tx, token), {})
  }

  /** One unit of work reads the registration and writes the token: what ends the one ends the other. */
  async #give(
    wish: Wish,
    find: (tx: Tx) => Promise<Registration | undefined>,
    how: { barred?: boolean; claims?: boolean },
  ): Promise<Granted & { registration?: Registration }> {
    const given = await this.#parts.db.write(async (tx) => {
      const registration = await find(tx)
      const why = await this.#judge(tx, registration, wish, how)
      if (why !== null) return { why, registration }
      const scopes = wish.scopes ?? AUDIENCE_SCOPES[wish.audience]
      const token = await this.#parts.tokens.mint(tx, registration!.n, wish.audience, scopes)
      return { why: null, token, registration: registration! }
    })
    if (given.why === null) {
      const scopes = wish.scopes ?? AUDIENCE_SCOPES[wish.audience]
      return { kind: 'granted', token: given.token, scopes, assertion: null, registration: given.registration }
    }
    const isPending = given.why === 'pending' && given.registration !== undefined
    return refused(isPending && this.#isHasty(given.registration!.n) ? 'slow_down' : given.why)
  }

  async #judge(
    tx: Tx,
    registration: Registration | undefined,
    { audience, scopes }: Wish,
    { barred = false, claims = false }: { barred?: boolean; claims?: boolean },
  ): Promise<Refusal | null> {
    if (registration === undefined || registration.state === 'revoked') return 'invalid_grant'
    const isOver = registration.claimExpiresAt !== null && registration.claimExpiresAt <= this.#parts.clock.now()
    if (claims && isOver) return 'claim_expired'
    if (!isAlive(registration)) return claims ? 'claim_expired' : 'invalid_grant'
    if (scopes?.length === 0 || scopes?.some((scope) => !AUDIENCE_SCOPES[audience].includes(scope)))
      return 'invalid_scope'
    if (registration.provisionedAt === null) return 'provisioning'
    if (registration.state === 'approved') return barred ? 'invalid_grant' : null
    if (audience === 'app' && !claims) return null
    return claims ? this.#whyNot(tx, registration) : 'pending'
  }

  /** What an agent that polls is told of its last invitation. */
  async #whyNot(tx: Tx, registration: Registration): Promise<Refusal> {
    if (registration.state === 'accepted') return 'pending'
    const invite = await this.#parts.invites.latest(tx, registration.n)
    if (invite === undefined) return 'not_invited'
    if (invite.state === 'declined') return 'declined'
    return invite.state === 'expired' ? 'invite_expired' : 'pending'
  }

  async #withAssertion(granted: Granted & { registration?: Registration }): Promise<Granted> {
    if (granted.kind === 'refused' || granted.registration === undefined) return granted
    const { id, email } = granted.registration
    return { ...granted, assertion: await this.#parts.assertions.sign(id, email, 2) }
  }

  #isHasty(registration: number): boolean {
    const now = this.#parts.clock.now()
    const recent = (this.#polls.get(registration) ?? []).filter((time) => time > now - PENDING_MS)
    this.#polls.delete(registration)
    this.#polls.set(registration, [...recent.slice(-PENDING_MAX), now])
    if (this.#polls.size > POLLERS_MAX) this.#polls.delete(this.#polls.keys().next().value!)
    return recent.length >= PENDING_MAX
  }
}

function refused(why: Refusal): Granted {
  return { kind: 'refused', why }
}
