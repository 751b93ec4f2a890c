// Invitations: an agent names a person as its owner; that person gets a message and decides.

import { randomBytes } from 'node:crypto'
import { DAY_MS } from '../base/durations.ts'
import { conflict, invalid, notFound, ProductError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { sha256 } from '../base/secrets.ts'
import type { Reader, Tx } from '../db/db.ts'
import { parseMailbox } from '../mime/address.ts'
import type { AgentDeps } from './deps.ts'
import { DISPATCHES_MS, takeDispatch, tooMany } from './invite-limits.ts'
import { inviteMessage } from './invite-message.ts'
import type { Ownership } from './ownership.ts'
import { type Invite, OWNER_INVITES, type Registration } from './records.ts'
import type { Registrations } from './registrations.ts'

/** An invitation and the registration it is for. */
export interface OpenInvite {
  invite: Invite
  registration: Registration
}

export interface InviteDecision {
  accept: boolean
  approveSending: boolean
  /** With a refusal: no agent may invite this address again. */
  optOut: boolean
}

/** Lifetime of an invitation, ms (docs/design/contract.md §8). */
export const INVITE_MS = 7 * DAY_MS
const EMAIL_MAX = 254
const TOKEN_BYTES = 32
const PROVISIONING_RETRY_SECONDS = 10

interface Deps extends AgentDeps {
  registrations: Registrations
  ownership: Ownership
}

export class Invites {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Invites a person to become the owner. The result does not reveal whether a message is sent: none is sent to a suppressed or opted-out
   * address, nor to an address of this appliance.
   * @throws ProductError conflict (the agent has an owner), rate_limit_exceeded, service_unavailable (still being set up), validation_error
   */
  async send(registrationId: string, written: string): Promise<Invite> {
    const { db, mailer, isSuppressed, config, people } = this.#deps
    const email = this.#checkEmail(written)
    const token = newToken()
    const registration = this.#usable(db.read, registrationId)
    const silent = isSuppressed(email) || hasOptedOut(db.read, email)
    const policy = people.linkMailPolicy(email)
    const link = this.#urlOf(token)
    const message =
      silent || !policy.mailed ? null : await mailer.prepare(inviteMessage(registration, { to: email, link, config }))
    const mailed = message !== null && policy.mailed ? { token, mailboxId: policy.mailboxId, isShown: false } : null
    return db.write((tx) => {
      const current = this.#usable(tx, registrationId)
      const live = this.#reusable(tx, current, email)
      takeDispatch(tx, { registration: current, email, now: this.#deps.clock.now() })
      const invite = live ?? this.#make(tx, current, email)
      if (mailed !== null) setLink(tx, invite.n, mailed)
      message?.sendIn(tx)
      return invite
    })
  }

  /** The pending invitations of a person, the oldest first. */
  async openFor(email: string): Promise<OpenInvite[]> {
    const { db, clock, registrations } = this.#deps
    const rest = `WHERE email = ? AND state = 'pending' AND expires_at > ? ORDER BY n`
    const rows = OWNER_INVITES.all(db.read, rest, [email.toLowerCase(), clock.now()])
    return Promise.all(
      rows.map(async (invite) => ({
        invite,
        registration: registrations.byN(db.read, invite.registration)!,
      })),
    )
  }

  /** Creates a link to a pending invitation that the operator hands over; it replaces the previous link. */
  async showLink({ n }: Invite): Promise<string> {
    const token = newToken()
    await this.#deps.db.write((tx) => setLink(tx, n, { token, mailboxId: null, isShown: true }))
    return this.#urlOf(token)
  }

  /** The invitation of a link; undefined for a link that is unknown or was replaced. */
  open(token: string): OpenInvite | undefined {
    const { read } = this.#deps.db
    const invite = byToken(read, token)
    return invite && { invite, registration: this.#deps.registrations.byN(read, invite.registration)! }
  }

  /**
   * Records the owner's decision; an earlier decision stays. Accepting proves the address of the owner.
   * @returns the invitation as it is now; `decided` is false when it was decided before or has expired
   */
  decide(token: string, decision: InviteDecision): Promise<OpenInvite & { decided: boolean }> {
    return this.#decide((tx) => byToken(tx, token), decision)
  }

  /** The same for the person it is for, once they have signed in: the link is not needed. */
  decideFor({ n }: Invite, decision: InviteDecision): Promise<OpenInvite & { decided: boolean }> {
    return this.#decide((tx) => this.#byN(tx, n), decision)
  }

  async #decide(
    find: (tx: Tx) => Invite | undefined,
    decision: InviteDecision,
  ): Promise<OpenInvite & { decided: boolean }> {
    const { db, clock, registrations, ownership } = this.#deps
    const now = clock.now()
    const done = await db.write((tx) => {
      const invite = find(tx)
      if (invite === undefined) throw notFound('invitation')
      if (invite.state !== 'pending' || invite.expiresAt <= now) return { invite, decided: false }
      const registration = registrations.byN(tx, invite.registration)!
      if (decision.accept) {
        ownership.accept(tx, registration, invite.email)
        this.#setState(tx, invite.n, 'accepted')
        if (decision.approveSending) ownership.approveSending(tx, registration.id)
      } else {
        this.#setState(tx, invite.n, 'declined')
        ownership.noteUndecided(tx, registration.n)
        if (decision.optOut) optOut(tx, invite.email, now)
      }
      return { invite: this.#byN(tx, invite.n)!, decided: true }
    })
    return { ...done, registration: registrations.byN(db.read, done.invite.registration)! }
  }

  /** The last invitation of a registration, in any state. */
  latest(reader: Reader, registration: number): Invite | undefined {
    return OWNER_INVITES.get(reader, 'WHERE registration = ? ORDER BY n DESC LIMIT 1', [registration])
  }

  /** Expires due invitations and deletes old counts. @returns the number of expired invitations */
  async expireDue(): Promise<number> {
    const { db, clock, ownership } = this.#deps
    const now = clock.now()
    const due = db.read.get(
      `SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM owner_invites WHERE state = 'pending' AND expires_at <= ?)
         OR EXISTS (SELECT 1 FROM invite_dispatches WHERE at <= ?)`,
      [now, now - DISPATCHES_MS],
    )
    if (due === undefined) return 0
    return db.write((tx) => {
      const expired = tx.all(
        `UPDATE owner_invites SET state = 'expired', decided_at = ? WHERE state = 'pending' AND expires_at <= ? RETURNING registration`,
        [now, now],
      )
      for (const row of expired) ownership.noteUndecided(tx, row.registration as number)
      tx.run('DELETE FROM invite_dispatches WHERE at <= ?', [now - DISPATCHES_MS])
      return expired.length
    })
  }

  #checkEmail(written: string): string {
    const mailbox = written.length <= EMAIL_MAX ? parseMailbox(written) : null
    if (mailbox === null) throw invalid('email', 'invalid_format', 'The email must be a single email address.')
    const email = written.toLowerCase()
    if (!email.endsWith(`@${this.#deps.config.AGENT_MAILBOX_DOMAIN}`)) return email
    throw invalid('email', 'forbidden_value', 'The address of an agent cannot be an owner. Name a person.')
  }

  #usable(reader: Reader, id: string): Registration {
    const registration = this.#deps.registrations.byId(reader, id)
    if (registration === undefined) throw notFound('registration')
    if (registration.provisionedAt === null) {
      const retryAfter = PROVISIONING_RETRY_SECONDS
      throw new ProductError('service_unavailable', 'The inbox is still being set up. Try again in a few seconds.', {
        retryAfter,
      })
    }
    if (registration.state === 'unclaimed' || registration.state === 'invited') return registration
    throw conflict(
      registration.state === 'accepted' || registration.state === 'approved'
        ? 'The agent already has an owner.'
        : `The registration is ${registration.state}.`,
    )
  }

  /** The pending invitation of this agent to this person. Revokes other pending ones of this agent; throws when another agent has one. */
  #reusable(tx: Tx, registration: Registration, email: string): Invite | undefined {
    const now = this.#deps.clock.now()
    const rest = `WHERE email = ? AND state = 'pending' AND expires_at > ? ORDER BY n LIMIT 1`
    const invite = OWNER_INVITES.get(tx, rest, [email, now])
    if (invite === undefined || invite.registration !== registration.n) {
      if (invite !== undefined)
        throw tooMany('This person already has a pending invitation. Try again later.', invite.expiresAt - now)
      tx.run(
        `UPDATE owner_invites SET state = 'revoked', decided_at = ? WHERE registration = ? AND state = 'pending'`,
        [now, registration.n],
      )
      return undefined
    }
    return invite
  }

  #urlOf(token: string): string {
    return `${this.#deps.config.APP_ORIGIN}/invites/${token}`
  }

  #make(tx: Tx, registration: Registration, email: string): Invite {
    const now = this.#deps.clock.now()
    OWNER_INVITES.insert(tx, {
      id: newId('ownerInvite'),
      registration: registration.n,
      email,
      // A random hash without a known token, until a link is mailed or shown.
      tokenHash: sha256(newToken()),
      state: 'pending',
      createdAt: now,
      expiresAt: now + INVITE_MS,
    })
    this.#deps.ownership.noteInvited(tx, registration.n)
    return this.latest(tx, registration.n)!
  }

  #byN(reader: Reader, n: number): Invite | undefined {
    return OWNER_INVITES.get(reader, 'WHERE n = ?', [n])
  }

  #setState(tx: Tx, n: number, state: Invite['state']): void {
    tx.run('UPDATE owner_invites SET state = ?, decided_at = ? WHERE n = ?', [state, this.#deps.clock.now(), n])
  }
}

/** Revokes unused links to invitations; the invitations stay pending. @returns how many */
export function dropInviteLinks(tx: Tx, tokens: readonly string[]): number {
  const pending = [...new Set(tokens)]
    .flatMap((token) => byToken(tx, token) ?? [])
    .filter(({ state }) => state === 'pending')
  for (const { n } of pending) setLink(tx, n, { token: newToken(), mailboxId: null, isShown: false })
  return pending.length
}

function byToken(reader: Reader, token: string): Invite | undefined {
  return OWNER_INVITES.get(reader, 'WHERE token_hash = ?', [sha256(token)])
}

/** Replaces the previous link. */
function setLink(
  tx: Tx,
  n: number,
  { token, ...link }: { token: string; mailboxId: string | null; isShown: boolean },
): void {
  OWNER_INVITES.update(tx, { tokenHash: sha256(token), ...link }, 'WHERE n = ?', [n])
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

function hasOptedOut(reader: Reader, email: string): boolean {
  return reader.get('SELECT 1 AS found FROM invite_opt_outs WHERE email = ?', [email]) !== undefined
}

function optOut(tx: Tx, email: string, now: number): void {
  tx.run('INSERT INTO invite_opt_outs (email, at) VALUES (?, ?) ON CONFLICT DO NOTHING', [email, now])
}
