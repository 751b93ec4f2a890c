// Links to sign in with: a secret a person gets by mail, or from somebody who may vouch for them, and uses once.

import { randomBytes } from 'node:crypto'
import { sha256 } from '../base/secrets.ts'
import type { Reader, Row, Tx } from '../db/db.ts'
import type { PeopleParts } from './deps.ts'

/** How long a link that was asked for works, ms. */
export const SIGN_IN_MS = 15 * 60_000
/** How long the link of an invitation to a team works, ms. */
export const INVITATION_MS = 7 * 86_400_000
/** Mails with links to one person within an hour: nobody's mailbox is filled by strangers. */
export const MAILS_PER_HOUR = 3
const HOUR_MS = 3_600_000
const TOKEN_BYTES = 32
export const TOKEN_PATTERN = '^[A-Za-z0-9_-]{43}$'

/** What a link, and the session made with it, is bound to. */
export interface SignInScope {
  /** Lower-case. */
  email: string
  /** The one team it opens; null for a link that was mailed, because mail proves the address for every team. */
  teamId: string | null
  /** The mailbox of this appliance it was mailed through; null for mail that left, and for a link that was shown. */
  mailboxId: string | null
  /** The owner (`usr_…`) it was shown to; null otherwise. */
  shownBy: string | null
}

export class Links {
  readonly #parts: Pick<PeopleParts, 'db' | 'clock' | 'config'>

  constructor(parts: Pick<PeopleParts, 'db' | 'clock' | 'config'>) {
    this.#parts = parts
  }

  newToken(): string {
    return randomBytes(TOKEN_BYTES).toString('base64url')
  }

  urlOf(token: string): string {
    return `${this.#parts.config.APP_ORIGIN}/owner/session/${token}`
  }

  /** Makes a token work. @param ms for how long */
  async make(tx: Tx, token: string, scope: SignInScope, ms: number): Promise<void> {
    const expiresAt = this.#parts.clock.now() + ms
    await tx.insert('sign_in_links', { hash: sha256(token), ...scopeColumns(scope), expires_at: expiresAt })
  }

  /** What a link opens, without using it. */
  async read(token: string, reader: Reader = this.#parts.db.read): Promise<SignInScope | undefined> {
    const row = await reader.get('SELECT * FROM sign_in_links WHERE hash = ? AND expires_at > ?', [
      sha256(token),
      this.#parts.clock.now(),
    ])
    return row && scopeOf(row)
  }

  /** Uses a link up. @returns what it opens; undefined for one that has expired, was used, or never existed */
  async use(tx: Tx, token: string): Promise<SignInScope | undefined> {
    const scope = await this.read(token, tx)
    await this.drop(tx, [token])
    return scope
  }

  /** Ends links before they are used. */
  async drop(tx: Tx, tokens: readonly string[]): Promise<number> {
    let dropped = 0
    for (const token of tokens) {
      dropped += (await tx.run('DELETE FROM sign_in_links WHERE hash = ?', [sha256(token)])).changes
    }
    return dropped
  }

  /** Ends every link of a person that was not used. */
  async dropOf(tx: Tx, email: string): Promise<void> {
    await tx.run('DELETE FROM sign_in_links WHERE email = ?', [email])
  }

  /** Ends the links that were mailed through a mailbox. */
  async dropThrough(tx: Tx, mailboxId: string): Promise<void> {
    await tx.run('DELETE FROM sign_in_links WHERE mailbox_id = ?', [mailboxId])
  }

  /** Ends the links that were shown to an owner. */
  async dropShownTo(tx: Tx, memberId: string): Promise<void> {
    await tx.run('DELETE FROM sign_in_links WHERE shown_by = ?', [memberId])
  }

  /** Counts a mail to a person. @returns false when she got enough of them within the hour */
  async mayMail(tx: Tx, email: string): Promise<boolean> {
    if (await this.isMailedEnough(email, tx)) return false
    await tx.insert('sign_in_mails', { email, at: this.#parts.clock.now() })
    return true
  }

  /** Whether a person got enough mails with links within the hour. */
  async isMailedEnough(email: string, reader: Reader = this.#parts.db.read): Promise<boolean> {
    const row = await reader.get<{ count: number }>(
      'SELECT count(*) AS count FROM sign_in_mails WHERE email = ? AND at > ?',
      [email, this.#parts.clock.now() - HOUR_MS],
    )
    return row!.count >= MAILS_PER_HOUR
  }

  /** Whether something is over. */
  async isDue(): Promise<boolean> {
    const now = this.#parts.clock.now()
    const sql = `SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM sign_in_links WHERE expires_at <= ?)
      OR EXISTS (SELECT 1 FROM sign_in_mails WHERE at <= ?)`
    return (await this.#parts.db.read.get(sql, [now, now - HOUR_MS])) !== undefined
  }

  /** Forgets what is over. */
  async prune(tx: Tx): Promise<number> {
    const now = this.#parts.clock.now()
    const { changes } = await tx.run('DELETE FROM sign_in_links WHERE expires_at <= ?', [now])
    await tx.run('DELETE FROM sign_in_mails WHERE at <= ?', [now - HOUR_MS])
    return changes
  }
}

export function scopeColumns({ email, teamId, mailboxId, shownBy }: SignInScope) {
  return { email, team_id: teamId, mailbox_id: mailboxId, shown_by: shownBy }
}

export function scopeOf(row: Row): SignInScope {
  return {
    email: row.email as string,
    teamId: row.team_id as string | null,
    mailboxId: row.mailbox_id as string | null,
    shownBy: row.shown_by as string | null,
  }
}
