// Browser sessions of signed-in people; a session lasts half a day.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { HOUR_MS } from '../base/durations.ts'
import { sha256 } from '../base/secrets.ts'
import type { Tx } from '../db/db.ts'
import type { PeopleDeps } from './deps.ts'
import { type SignInScope, scopeColumns, scopeOf } from './links.ts'

/** ms (decisions §11.6) */
export const SESSION_MS = 12 * HOUR_MS
const TOKEN_BYTES = 32
const TOKEN_FORM = /^[A-Za-z0-9_-]{43}$/

/** A signed-in browser and the scope of its sign-in. */
export interface SignInSession extends SignInScope {
  /** The secret of the cookie. */
  token: string
}

export class Sessions {
  readonly #deps: Pick<PeopleDeps, 'db' | 'clock' | 'vault'>

  constructor(deps: Pick<PeopleDeps, 'db' | 'clock' | 'vault'>) {
    this.#deps = deps
  }

  open(tx: Tx, scope: SignInScope): SignInSession {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    const expiresAt = this.#deps.clock.now() + SESSION_MS
    tx.insert('sessions', { hash: sha256(token), ...scopeColumns(scope), expires_at: expiresAt })
    return { token, ...scope }
  }

  /** Undefined for an invalid cookie and for an expired session. */
  read(token: string | null): SignInSession | undefined {
    if (token === null || !TOKEN_FORM.test(token)) return undefined
    const row = this.#deps.db.read.get('SELECT * FROM sessions WHERE hash = ? AND expires_at > ?', [
      sha256(token),
      this.#deps.clock.now(),
    ])
    return row && { token, ...scopeOf(row) }
  }

  async close(token: string): Promise<void> {
    await this.#deps.db.write((tx) => tx.run('DELETE FROM sessions WHERE hash = ?', [sha256(token)]))
  }

  /** Ends every session of a person. */
  closeOf(tx: Tx, email: string): void {
    tx.run('DELETE FROM sessions WHERE email = ?', [email])
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
