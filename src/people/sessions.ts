// Browser sessions of signed-in people: half a day, or longer on devices they trust.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import { newId } from '../base/ids.ts'
import { sha256 } from '../base/secrets.ts'
import type { Reader, Row, Tx } from '../db/db.ts'
import type { PeopleDeps } from './deps.ts'
import { type SignInScope, scopeColumns, scopeOf } from './links.ts'

/** Lifetime on a device that is not trusted, ms (docs/design/agents.md §4). */
export const SESSION_MS = 12 * HOUR_MS
/** Time without use after which the session of a trusted device ends, ms. */
export const TRUSTED_IDLE_MS = 30 * DAY_MS
/** Longest lifetime of the session of a trusted device, ms. */
export const TRUSTED_MS = 180 * DAY_MS
/** How long a sign-in or a confirmation permits dangerous actions, ms. */
export const CONFIRMED_MS = 15 * MINUTE_MS
/** `last_seen_at` is written at most this often, ms. */
const SEEN_EVERY_MS = 5 * MINUTE_MS
const TOKEN_BYTES = 32
const TOKEN_FORM = /^[A-Za-z0-9_-]{43}$/
const USER_AGENT_MAX = 256

/** How a person proved who they are. */
export type SignInMethod = 'link' | 'passkey' | 'password' | 'recovery' | 'first_run'

/** The browser that signs in. */
export interface SignInClient {
  method: SignInMethod
  /** Whether the person trusts the device. */
  trusted: boolean
  userAgent: string
  /** Address the request came from. */
  source: string
}

/** A browser that signs in, with the cookies it brings. */
export interface SignInBrowser extends SignInClient {
  /** Left out where the browser is not known. */
  cookies?: {
    /** Of the session it has: that ends. */
    session: string | null
    /** By which it is recognised: see `devices.ts`. */
    device: string | null
  }
}

/** A sign-in by a link whose browser is not known. */
const LINK_CLIENT: SignInBrowser = { method: 'link', trusted: false, userAgent: '', source: '' }

/** A session without its secret. */
export interface SessionRecord extends SignInScope, SignInClient {
  /** `ses_…` */
  id: string
  createdAt: number
  lastSeenAt: number
  /** Until then dangerous actions need no further proof. */
  confirmedUntil: number
  expiresAt: number
}

/** A signed-in browser and the scope of its sign-in. */
export interface SignInSession extends SessionRecord {
  /** The secret of the cookie. */
  token: string
}

export class Sessions {
  readonly #deps: Pick<PeopleDeps, 'db' | 'clock' | 'vault'>

  constructor(deps: Pick<PeopleDeps, 'db' | 'clock' | 'vault'>) {
    this.#deps = deps
  }

  /** Opens a session with a secret of its own; the session the browser had before ends. */
  open(tx: Tx, scope: SignInScope, { cookies, ...client }: SignInBrowser = LINK_CLIENT): SignInSession {
    const former = cookies?.session ?? null
    if (former !== null && TOKEN_FORM.test(former)) tx.run('DELETE FROM sessions WHERE hash = ?', [sha256(former)])
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const now = this.#deps.clock.now()
    const userAgent = client.userAgent.slice(0, USER_AGENT_MAX)
    const times = { createdAt: now, lastSeenAt: now, confirmedUntil: now + CONFIRMED_MS }
    const expiresAt = now + (client.trusted ? TRUSTED_IDLE_MS : SESSION_MS)
    const session = { id: newId('session'), ...scope, ...client, userAgent, ...times, expiresAt, token }
    tx.insert('sessions', {
      ...{ id: session.id, hash: sha256(token), ...scopeColumns(scope), method: client.method },
      ...{ trusted: client.trusted ? 1 : 0, user_agent: userAgent, source: client.source, created_at: now },
      ...{ last_seen_at: now, confirmed_until: session.confirmedUntil, expires_at: expiresAt },
    })
    return session
  }

  /** Undefined for an invalid cookie and for an expired session. */
  read(token: string | null): SignInSession | undefined {
    if (token === null || !TOKEN_FORM.test(token)) return undefined
    const row = this.#deps.db.read.get('SELECT * FROM sessions WHERE hash = ? AND expires_at > ?', [
      sha256(token),
      this.#deps.clock.now(),
    ])
    return row && { ...sessionOf(row), token }
  }

  /** The sessions of a person that have not expired, the one used last first. */
  list(email: string, reader: Reader = this.#deps.db.read): SessionRecord[] {
    const sql = 'SELECT * FROM sessions WHERE email = ? AND expires_at > ? ORDER BY last_seen_at DESC, id'
    return reader.all(sql, [email, this.#deps.clock.now()]).map(sessionOf)
  }

  /** Whether the use of a session has to be written down. */
  isUnseen({ lastSeenAt }: SessionRecord): boolean {
    return this.#deps.clock.now() - lastSeenAt >= SEEN_EVERY_MS
  }

  /** Records the use of a session; that of a trusted device then lasts longer. */
  async noteSeen({ id, trusted, createdAt, expiresAt }: SessionRecord): Promise<void> {
    const now = this.#deps.clock.now()
    const until = trusted ? Math.min(now + TRUSTED_IDLE_MS, createdAt + TRUSTED_MS) : expiresAt
    const sql = 'UPDATE sessions SET last_seen_at = ?, expires_at = ? WHERE id = ?'
    await this.#deps.db.write((tx) => tx.run(sql, [now, until, id]))
  }

  /** Records that the person proved themselves again. @returns until when dangerous actions are permitted */
  confirm(tx: Tx, id: string): number {
    const until = this.#deps.clock.now() + CONFIRMED_MS
    tx.run('UPDATE sessions SET confirmed_until = ? WHERE id = ?', [until, id])
    return until
  }

  async close(token: string): Promise<void> {
    await this.#deps.db.write((tx) => tx.run('DELETE FROM sessions WHERE hash = ?', [sha256(token)]))
  }

  /** Ends one session of a person. @returns false when they have no such session */
  closeById(tx: Tx, email: string, id: string): boolean {
    return tx.run('DELETE FROM sessions WHERE email = ? AND id = ?', [email, id]).changes > 0
  }

  /** Ends every session of a person. @param except the id of one that stays */
  closeOf(tx: Tx, email: string, except = ''): number {
    return tx.run('DELETE FROM sessions WHERE email = ? AND id <> ?', [email, except]).changes
  }

  /** Ends the sessions of a person that open one team only. */
  closeBoundTo(tx: Tx, { email, teamId }: { email: string; teamId: string }): void {
    tx.run('DELETE FROM sessions WHERE email = ? AND team_id = ?', [email, teamId])
  }

  /** Ends the sessions opened with links that were mailed to a mailbox. */
  closeThrough(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM sessions WHERE mailbox_id = ?', [mailboxId])
  }

  /** Ends the sessions opened with links that were shown to an owner. */
  closeShownTo(tx: Tx, memberId: string): void {
    tx.run('DELETE FROM sessions WHERE shown_by = ?', [memberId])
  }

  /** Whether `prune` has something to delete. */
  isDue(): boolean {
    const sql = 'SELECT 1 AS due FROM sessions WHERE expires_at <= ? LIMIT 1'
    return this.#deps.db.read.get(sql, [this.#deps.clock.now()]) !== undefined
  }

  /** Deletes expired sessions. */
  prune(tx: Tx): number {
    return tx.run('DELETE FROM sessions WHERE expires_at <= ?', [this.#deps.clock.now()]).changes
  }

  /** The CSRF token of a form. @param bound the session or the link the form was rendered for */
  formToken(bound: string): string {
    return this.#deps.vault.mac('form', bound).toString('base64url')
  }

  isFormToken(bound: string, given: string): boolean {
    const right = Buffer.from(this.formToken(bound))
    const shown = Buffer.from(given)
    return right.length === shown.length && timingSafeEqual(right, shown)
  }
}

function sessionOf(row: Row): SessionRecord {
  return {
    id: row.id as string,
    ...scopeOf(row),
    method: row.method as SignInMethod,
    trusted: row.trusted === 1,
    userAgent: row.user_agent as string,
    source: row.source as string,
    createdAt: row.created_at as number,
    lastSeenAt: row.last_seen_at as number,
    confirmedUntil: row.confirmed_until as number,
    expiresAt: row.expires_at as number,
  }
}
