// Sessions of people: who is signed in, for half a day, in one browser.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'
import type { PeopleParts } from './deps.ts'
import { type SignInScope, scopeColumns, scopeOf } from './links.ts'

/** ms (decisions §11.6) */
export const SESSION_MS = 12 * 3_600_000
const TOKEN_BYTES = 32
const TOKEN_FORM = /^[A-Za-z0-9_-]{43}$/

/** A browser somebody is signed in with, and what for. */
export interface Session extends SignInScope {
  /** The secret of the cookie. */
  token: string
}

export class Sessions {
  readonly #parts: Pick<PeopleParts, 'db' | 'clock' | 'vault'>

  constructor(parts: Pick<PeopleParts, 'db' | 'clock' | 'vault'>) {
    this.#parts = parts
  }

  async open(tx: Tx, scope: SignInScope): Promise<Session> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const expiresAt = this.#parts.clock.now() + SESSION_MS
    await tx.insert('sessions', { hash: sha256(token), ...scopeColumns(scope), expires_at: expiresAt })
    return { token, ...scope }
  }

  /** Undefined for a cookie that is none, or is over. */
  async read(token: string | null): Promise<Session | undefined> {
    if (token === null || !TOKEN_FORM.test(token)) return undefined
    const row = await this.#parts.db.read.get('SELECT * FROM sessions WHERE hash = ? AND expires_at > ?', [
      sha256(token),
      this.#parts.clock.now(),
    ])
    return row && { token, ...scopeOf(row) }
  }

  async close(token: string): Promise<void> {
    await this.#parts.db.write((tx) => tx.run('DELETE FROM sessions WHERE hash = ?', [sha256(token)]))
  }

  /** Ends every session of a person. */
  async closeOf(tx: Tx, email: string): Promise<void> {
    await tx.run('DELETE FROM sessions WHERE email = ?', [email])
  }

  /** Ends the sessions made with links that were mailed through a mailbox. */
  async closeThrough(tx: Tx, mailboxId: string): Promise<void> {
    await tx.run('DELETE FROM sessions WHERE mailbox_id = ?', [mailboxId])
  }

  /** Ends the sessions made with links that were shown to an owner. */
  async closeShownTo(tx: Tx, memberId: string): Promise<void> {
    await tx.run('DELETE FROM sessions WHERE shown_by = ?', [memberId])
  }

  /** Whether something is over. */
  async isDue(): Promise<boolean> {
    const sql = 'SELECT 1 AS due FROM sessions WHERE expires_at <= ? LIMIT 1'
    return (await this.#parts.db.read.get(sql, [this.#parts.clock.now()])) !== undefined
  }

  /** Forgets what is over. */
  async prune(tx: Tx): Promise<number> {
    return (await tx.run('DELETE FROM sessions WHERE expires_at <= ?', [this.#parts.clock.now()])).changes
  }

  /** What a form must bring along to be one of ours. @param bound the session or the link the form was made for */
  formToken(bound: string): string {
    return this.#parts.vault.mac('form', bound).toString('base64url')
  }

  isFormToken(bound: string, given: string): boolean {
    const right = Buffer.from(this.formToken(bound))
    const shown = Buffer.from(given)
    return right.length === shown.length && timingSafeEqual(right, shown)
  }
}
