// Invitations: an agent names a person as its owner, she gets a mail, and what she decides.

import { randomBytes } from 'node:crypto'
import { conflict, invalid, notFound, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { sha256 } from '../../base/secrets.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { parseMailbox } from '../../mail/address.ts'
import { inviteMail } from './invite-mail.ts'
import type { Ownership } from './ownership.ts'
import type { AgentParts } from './parts.ts'
import { type Invite, inviteOf, type Registration } from './records.ts'
import type { Registrations } from './registrations.ts'

/** What the owner sees behind the link. */
export interface OpenInvite {
  invite: Invite
  registration: Registration
}

export interface InviteDecision {
  accept: boolean
  approveSending: boolean
  /** With a refusal: nobody may ask again. */
  optOut: boolean
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** How long an invitation is open (specification §8). */
export const INVITE_MS = 7 * DAY_MS
/** Mails in a rolling time: of one agent a day, to one person an hour, of all an hour (specification §8). */
export const PER_REGISTRATION = 3
export const PER_RECIPIENT = 3
export const IN_ALL = 1000
const EMAIL_MAX = 254
const TOKEN_BYTES = 32
const PROVISIONING_RETRY_SECONDS = 10

interface Parts extends AgentParts {
  registrations: Registrations
  ownership: Ownership
}

export class Invites {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Asks a person to become the owner. Everything about the mail but its sending is the same for who does not want to be asked.
   * @throws ProductError conflict (there is an owner), rate_limit_exceeded, service_unavailable (still being set up), validation_error
   */
  async send(registrationId: string, written: string): Promise<Invite> {
    const { db, post, isSuppressed, config } = this.#parts
    const email = this.#checkEmail(written)
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const registration = await this.#usable(db.read, registrationId)
    const silent = (await isSuppressed(email)) || (await hasOptedOut(db.read, email))
    const link = `${config.APP_ORIGIN}/invites/${token}`
    const mail = silent ? null : await post.prepare(inviteMail(registration, { to: email, link, config }))
    return db.write(async (tx) => {
      const current = await this.#usable(tx, registrationId)
      const live = await this.#live(tx, current, email)
      await this.#takeDispatch(tx, current.n, email)
      const invite = live ? await this.#renew(tx, live, token) : await this.#make(tx, current, email, token)
      await mail?.sendIn(tx)
      return invite
    })
  }

  /** What a link leads to; undefined for one that was never made or was replaced. */
  async open(token: string): Promise<OpenInvite | undefined> {
    const { read } = this.#parts.db
    const invite = await this.#byToken(read, token)
    return invite && { invite, registration: (await this.#parts.registrations.byN(read, invite.registration))! }
  }

  /**
   * The owner's decision, once: what was decided before stays. Accepting proves her address.
   * @returns the invitation as it is now; `decided` is false when it had been decided, or was over
   */
  async decide(token: string, decision: InviteDecision): Promise<OpenInvite & { decided: boolean }> {
    const { db, clock, registrations, ownership } = this.#parts
    const now = clock.now()
    const done = await db.write(async (tx) => {
      const invite = await this.#byToken(tx, token)
      if (invite === undefined) throw notFound('invitation')
      if (invite.state !== 'pending' || invite.expiresAt <= now) return { invite, decided: false }
      const registration = (await registrations.byN(tx, invite.registration))!
      if (decision.accept) {
        await ownership.accept(tx, registration, invite.email)
        await this.#move(tx, invite.n, 'accepted')
        if (decision.approveSending) await ownership.approveSending(tx, registration.id)
      } else {
        await this.#move(tx, invite.n, 'declined')
        await ownership.noteUndecided(tx, registration.n)
        if (decision.optOut) await optOut(tx, invite.email, now)
      }
      return { invite: (await this.#byToken(tx, token))!, decided: true }
    })
    return { ...done, registration: (await registrations.byN(db.read, done.invite.registration))! }
  }

  /** The last invitation of a registration, whatever became of it. */
  async latest(reader: Reader, registration: number): Promise<Invite | undefined> {
    const row = await reader.get('SELECT * FROM owner_invites WHERE registration = ? ORDER BY n DESC LIMIT 1', [
      registration,
    ])
    return row && inviteOf(row)
  }

  /** Ends the invitations whose time is over, and forgets old counts. @returns how many ended */
  async expireDue(): Promise<number> {
    const { db, clock, ownership } = this.#parts
    const now = clock.now()
    const due = await db.read.get(
      `SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM owner_invites WHERE state = 'pending' AND expires_at <= ?)
         OR EXISTS (SELECT 1 FROM invite_dispatches WHERE at <= ?)`,
      [now, now - DAY_MS],
    )
    if (due === undefined) return 0
    return db.write(async (tx) => {
      const over = await tx.all(
        `UPDATE owner_invites SET state = 'expired', decided_at = ? WHERE state = 'pending' AND expires_at <= ? RETURNING registration`,
        [now, now],
      )
      for (const row of over) await ownership.noteUndecided(tx, row.registration as number)
      await tx.run('DELETE FROM invite_dispatches WHERE at <= ?', [now - DAY_MS])
      return over.length
    })
  }

  #checkEmail(written: string): string {
    const mailbox = written.length <= EMAIL_MAX ? parseMailbox(written) : null
    if (mailbox === null) throw invalid('email', 'invalid_format', 'The email must be one address.')
    const email = written.toLowerCase()
    if (!email.endsWith(`@${this.#parts.config.AGENT_MAILBOX_DOMAIN}`)) return email
    throw invalid('email', 'forbidden_value', 'An owner is a person: the address of an agent cannot be one.')
  }

  async #usable(reader: Reader, id: string): Promise<Registration> {
    const registration = await this.#parts.registrations.byId(reader, id)
    if (registration === undefined) throw notFound('registration')
    if (registration.provisionedAt === null) {
      const retryAfter = PROVISIONING_RETRY_SECONDS
      throw new ProductError('service_unavailable', 'The inbox is still being set up.', { retryAfter })
    }
    if (registration.state === 'unclaimed' || registration.state === 'invited') return registration
    throw conflict(
      registration.state === 'accepted' || registration.state === 'approved'
        ? 'The agent has an owner already.'
        : `The registration is ${registration.state}.`,
    )
  }

  /** The open invitation of this agent to this person; another one of this agent ends, one of another agent forbids it. */
  async #live(tx: Tx, registration: Registration, email: string): Promise<Invite | undefined> {
    const now = this.#parts.clock.now()
    const row = await tx.get(
      `SELECT * FROM owner_invites WHERE email = ? AND state = 'pending' AND expires_at > ? ORDER BY n LIMIT 1`,
      [email, now],
    )
    if (row === undefined || row.registration !== registration.n) {
      if (row !== undefined) throw tooMany('This person has an open invitation.', inviteOf(row).expiresAt - now)
      await tx.run(
        `UPDATE owner_invites SET state = 'revoked', decided_at = ? WHERE registration = ? AND state = 'pending'`,
        [now, registration.n],
      )
      return undefined
    }
    return inviteOf(row)
  }

  async #takeDispatch(tx: Tx, registration: number, email: string): Promise<void> {
    const now = this.#parts.clock.now()
    await checkRoom(tx, {
      condition: 'registration = ?',
      values: [registration],
      max: PER_REGISTRATION,
      ms: DAY_MS,
      now,
    })
    await checkRoom(tx, { condition: 'email = ?', values: [email], max: PER_RECIPIENT, ms: HOUR_MS, now })
    await checkRoom(tx, { condition: '1 = 1', values: [], max: IN_ALL, ms: HOUR_MS, now })
    await tx.insert('invite_dispatches', { registration, email, at: now })
  }

  /** The link before it leads nowhere any more. */
  async #renew(tx: Tx, invite: Invite, token: string): Promise<Invite> {
    await tx.run('UPDATE owner_invites SET token_hash = ? WHERE n = ?', [sha256(token), invite.n])
    return invite
  }

  async #make(tx: Tx, registration: Registration, email: string, token: string): Promise<Invite> {
    const now = this.#parts.clock.now()
    await tx.insert('owner_invites', {
      id: newId('ownerInvite'),
      registration: registration.n,
      email,
      token_hash: sha256(token),
      state: 'pending',
      created_at: now,
      expires_at: now + INVITE_MS,
    })
    await this.#parts.ownership.noteInvited(tx, registration.n)
    return (await this.latest(tx, registration.n))!
  }

  async #byToken(reader: Reader, token: string): Promise<Invite | undefined> {
    const row = await reader.get('SELECT * FROM owner_invites WHERE token_hash = ?', [sha256(token)])
    return row && inviteOf(row)
  }

  async #move(tx: Tx, n: number, state: Invite['state']): Promise<void> {
    await tx.run('UPDATE owner_invites SET state = ?, decided_at = ? WHERE n = ?', [state, this.#parts.clock.now(), n])
  }
}

interface Room {
  condition: string
  values: (string | number)[]
  max: number
  /** Length of the rolling window. */
  ms: number
  now: number
}

/** @throws ProductError rate_limit_exceeded until the oldest of the window is out of it */
async function checkRoom(tx: Tx, { condition, values, max, ms, now }: Room): Promise<void> {
  const row = await tx.get<{ at: number }>(
    `SELECT at FROM invite_dispatches WHERE ${condition} AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?`,
    [...values, now - ms, max - 1],
  )
  if (row !== undefined) throw tooMany('Too many invitations were sent.', row.at + ms - now)
}

async function hasOptedOut(reader: Reader, email: string): Promise<boolean> {
  return (await reader.get('SELECT 1 AS found FROM invite_opt_outs WHERE email = ?', [email])) !== undefined
}

async function optOut(tx: Tx, email: string, now: number): Promise<void> {
  await tx.run('INSERT INTO invite_opt_outs (email, at) VALUES (?, ?) ON CONFLICT DO NOTHING', [email, now])
}

function tooMany(message: string, waitMs: number): ProductError {
  return new ProductError('rate_limit_exceeded', message, { retryAfter: Math.ceil(waitMs / 1000) })
}
