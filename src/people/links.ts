// One-time sign-in links: a secret that a person receives by mail, or from the operator or a team owner.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import { sha256 } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import type { Db, Reader, Row, Tx } from '../db/db.ts'

/** Lifetime of a requested sign-in link, ms. */
export const SIGN_IN_MS = 15 * MINUTE_MS
/** Lifetime of the link in a team invitation, ms. */
export const INVITATION_MS = 7 * DAY_MS
/** Messages with links to one person per hour that one source, one known browser or one team may cause. */
export const LINK_MESSAGES_EACH = 3
/** Messages with links to one person per hour by each kind of asker, so that strangers cannot flood a mailbox. */
export const LINK_MESSAGES_PER_HOUR = 6
const TOKEN_BYTES = 32
export const TOKEN_PATTERN = '^[A-Za-z0-9_-]{43}$'

/** What a link and the session opened with it are bound to. */
export interface SignInScope {
  /** Lower-case. */
  email: string
  /** The only team it opens; null for a mailed link, because mail proves the address for every team. */
  teamId: string | null
  /** The mailbox of this appliance it was mailed to; null for an address elsewhere, and for a link that was shown. */
  mailboxId: string | null
  /** The owner (`usr_…`) it was shown to; null otherwise. */
  shownBy: string | null
}

/**
 * Who causes a message with a link. Strangers are counted by their source, and apart from browsers the person signed in with and from teams
 * that invite them: they cannot use up the messages of these.
 */
export interface LinkAsker {
  kind: 'stranger' | 'browser' | 'team'
  /** The source, the key of the browser, or the team. */
  key: string
}

interface LinkDeps {
  db: Db
  clock: Clock
  config: Config
}

export class Links {
  readonly #deps: LinkDeps

  constructor(deps: LinkDeps) {
    this.#deps = deps
  }

  newToken(): string {
    return randomBytes(TOKEN_BYTES).toString('base64url')
  }

  urlOf(token: string): string {
    return `${this.#deps.config.APP_ORIGIN}/owner/session/${token}`
  }

  /**
   * Stores a new link. It ends the older ones of the person that open as much, except for an invitation that holds longer.
   * @param ms its lifetime
   */
  make(tx: Tx, token: string, scope: SignInScope, ms: number): void {
    const expiresAt = this.#deps.clock.now() + ms
    tx.run('DELETE FROM sign_in_links WHERE email = ? AND team_id IS ? AND expires_at <= ?', [
      ...[scope.email, scope.teamId],
      expiresAt,
    ])
    tx.insert('sign_in_links', { hash: sha256(token), ...scopeColumns(scope), expires_at: expiresAt })
  }

  /** Reads the scope of a link without using it. */
  read(token: string, reader: Reader = this.#deps.db.read): SignInScope | undefined {
    const row = reader.get('SELECT * FROM sign_in_links WHERE hash = ? AND expires_at > ?', [
      sha256(token),
      this.#deps.clock.now(),
    ])
    return row && scopeOf(row)
  }

  /** Uses a link. @returns its scope; undefined for one that has expired, was used, or never existed */
  use(tx: Tx, token: string): SignInScope | undefined {
    const scope = this.read(token, tx)
    this.drop(tx, [token])
    return scope
  }

  /** Revokes unused links. @returns the persons whose they were */
  drop(tx: Tx, tokens: readonly string[]): string[] {
    const sql = 'DELETE FROM sign_in_links WHERE hash = ? RETURNING email'
    return tokens.flatMap((token) => tx.all<{ email: string }>(sql, [sha256(token)]).map(({ email }) => email))
  }

  /** Revokes every unused link of a person. */
  dropOf(tx: Tx, email: string): void {
    tx.run('DELETE FROM sign_in_links WHERE email = ?', [email])
  }

  /** Revokes the unused links of a person that open one team only. */
  dropBoundTo(tx: Tx, { email, teamId }: { email: string; teamId: string }): void {
    tx.run('DELETE FROM sign_in_links WHERE email = ? AND team_id = ?', [email, teamId])
  }

  /** Revokes the links that were mailed to a mailbox. */
  dropThrough(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM sign_in_links WHERE mailbox_id = ?', [mailboxId])
  }

  /** Revokes the links that were shown to an owner. */
  dropShownTo(tx: Tx, memberId: string): void {
    tx.run('DELETE FROM sign_in_links WHERE shown_by = ?', [memberId])
  }

  /** Counts a message to a person. @returns false, without counting, when an hourly limit is reached */
  countMessage(tx: Tx, email: string, asker: LinkAsker): boolean {
    if (this.isMailLimitReached(email, asker, tx)) return false
    tx.insert('sign_in_mails', { email, kind: asker.kind, asker: asker.key, at: this.#deps.clock.now() })
    return true
  }

  /** Whether the hourly limit of an asker, or of all of its kind, is reached. */
  isMailLimitReached(email: string, { kind, key }: LinkAsker, reader: Reader = this.#deps.db.read): boolean {
    const { all, own } = reader.get<{ all: number; own: number }>(
      `SELECT count(*) AS "all", count(*) FILTER (WHERE asker = ?) AS own FROM sign_in_mails
       WHERE email = ? AND kind = ? AND at > ?`,
      [key, email, kind, this.#deps.clock.now() - HOUR_MS],
    )!
    return own >= LINK_MESSAGES_EACH || all >= LINK_MESSAGES_PER_HOUR
  }

  /** Whether `prune` has something to delete. */
  isDue(): boolean {
    const now = this.#deps.clock.now()
    const sql = `SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM sign_in_links WHERE expires_at <= ?)
      OR EXISTS (SELECT 1 FROM sign_in_mails WHERE at <= ?)`
    return this.#deps.db.read.get(sql, [now, now - HOUR_MS]) !== undefined
  }

  /** Deletes expired links and counts. @returns the number of links */
  prune(tx: Tx): number {
    const now = this.#deps.clock.now()
    const { changes } = tx.run('DELETE FROM sign_in_links WHERE expires_at <= ?', [now])
    tx.run('DELETE FROM sign_in_mails WHERE at <= ?', [now - HOUR_MS])
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
