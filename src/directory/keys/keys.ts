// API keys: stored as hashes, authenticated with one read.

import type { Clock } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import { conflict, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { isSecret, newSecret, sha256 } from '../../base/secrets.ts'
import type { Db, Reader, Row, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { RowCache } from '../../db/row-cache.ts'
import { placeholders, Where } from '../../db/sql-text.ts'
import type { MailboxPrincipal, Recognised, TeamPrincipal } from '../names/principal.ts'
import {
  type ApiKey,
  checkExpiry,
  checkPermissions,
  type IssuedKey,
  type KeyInput,
  type KeyKind,
  type KeyStatus,
  permissionsOf,
  presentKey,
  statusOf,
} from './key-record.ts'
import { checkName, teamSuspendedAt } from './teams.ts'

export type { ApiKey, KeyKind, KeyStatus } from './key-record.ts'

export interface KeyFilter {
  mailboxId?: string
  kind?: KeyKind
  status?: KeyStatus
  limit: number
  after: PageKey | null
}

/** Maximum active keys of a mailbox (docs/design/directory.md §6.2). */
export const MAILBOX_KEYS_MAX = 25
/** Maximum grace period of a rotated secret, seconds (docs/design/directory.md §2). */
export const GRACE_SECONDS_MAX = 86_400
const NAME_MAX = 100
/** Keys kept in memory while nothing changes. */
const KNOWN_MAX = 1000
const ACTIVE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)'

export class Keys {
  readonly #db: Db
  readonly #clock: Clock
  /** Rows by the hash of a secret. */
  readonly #known: RowCache<string, Row>
  /** Keys whose last use is being written. */
  readonly #noting = new Set<string>()

  constructor(deps: { db: Db; clock: Clock }) {
    this.#db = deps.db
    this.#clock = deps.clock
    this.#known = new RowCache(deps.db, KNOWN_MAX)
  }

  /** @throws ProductError validation_error, conflict (too many keys of a mailbox) */
  issue(input: KeyInput): Promise<IssuedKey> {
    return this.#db.write((tx) => this.issueIn(tx, input))
  }

  /** As `issue`, inside a unit of work of the caller. */
  issueIn(tx: Tx, input: KeyInput): IssuedKey {
    const now = this.#clock.now()
    const permissions = checkPermissions(input)
    checkExpiry(input.expiresAt, now)
    if (input.mailboxId !== undefined) this.#checkKeyCount(tx, input.mailboxId, now)
    const secret = newSecret(input.kind === 'root' ? 'srk_' : 'smk_')
    const id = newId('key')
    tx.insert('keys', {
      id,
      team_id: input.teamId,
      mailbox_id: input.mailboxId,
      kind: input.kind,
      name: checkName(input.name, NAME_MAX),
      role: input.role,
      permissions: input.role === undefined ? JSON.stringify(permissions) : null,
      ...secretColumns(secret),
      created_by: input.createdBy,
      created_at: now,
      expires_at: input.expiresAt,
    })
    const row = tx.get('SELECT * FROM keys WHERE id = ?', [id])
    return { record: presentKey(row!, now), secret }
  }

  /** The principal of a secret; undefined for one that is malformed, unknown, expired or revoked. */
  recognise(secret: string): Recognised<TeamPrincipal | MailboxPrincipal> | undefined {
    return this.recogniser(secret)()
  }

  /** A function that recognises the secret each time it is called; the secret is hashed once. */
  recogniser(secret: string): () => Recognised<TeamPrincipal | MailboxPrincipal> | undefined {
    // A malformed secret costs no database read (docs/design/http.md §2).
    if (!isSecret(secret)) return () => undefined
    const hash = sha256(secret)
    const key = hash.toString('latin1')
    return () => this.#recognise(hash, key)
  }

  #recognise(hash: Buffer, key: string): Recognised<TeamPrincipal | MailboxPrincipal> | undefined {
    const row = this.#known.get(key, () =>
      this.#db.read.get(
        `SELECT keys.*, ${teamSuspendedAt('keys.team_id')} AS suspended_at FROM keys WHERE hash = ? OR previous_hash = ?`,
        [hash, hash],
      ),
    )
    const now = this.#clock.now()
    if (row === undefined || statusOf(row, now) !== 'active') return undefined
    if (!hash.equals(row.hash as Uint8Array) && (row.previous_until as number) <= now) return undefined
    this.#noteUse(row, now)
    const { id: keyId, team_id: teamId } = row as { id: string; team_id: string }
    const permissions = permissionsOf(row)
    const suspended = row.suspended_at !== null
    if (row.kind === 'root') return { principal: { kind: 'team', keyId, teamId, permissions }, suspended }
    const mailboxId = row.mailbox_id as string
    return { principal: { kind: 'mailbox', keyId, teamId, mailboxId, permissions }, suspended }
  }

  /** Those of the given hashes of secrets that are accepted now, as hexadecimal text. */
  acceptedAmong(hashes: readonly Uint8Array[]): Set<string> {
    const marks = placeholders(hashes)
    const now = this.#clock.now()
    const sql = `SELECT hash FROM keys WHERE hash IN (${marks}) AND ${ACTIVE}
      UNION ALL SELECT previous_hash FROM keys WHERE previous_hash IN (${marks}) AND ${ACTIVE} AND previous_until > ?`
    const rows = this.#db.read.all<{ hash: Uint8Array }>(sql, [...hashes, now, ...hashes, now, now])
    return new Set(rows.map(({ hash }) => Buffer.from(hash).toString('hex')))
  }

  /** How many active keys a team has. */
  count(teamId: string): number {
    const sql = `SELECT count(*) AS count FROM keys WHERE team_id = ? AND ${ACTIVE}`
    return this.#db.read.get<{ count: number }>(sql, [teamId, this.#clock.now()])!.count
  }

  /** Newest first. */
  list(teamId: string, filter: KeyFilter): Page<ApiKey> {
    const now = this.#clock.now()
    const where = new Where().add('team_id = ?', teamId)
    if (filter.mailboxId !== undefined) where.add('mailbox_id = ?', filter.mailboxId)
    if (filter.kind !== undefined) where.add('kind = ?', filter.kind)
    if (filter.status === 'active') where.add(ACTIVE, now)
    if (filter.status === 'expired') where.add('revoked_at IS NULL AND expires_at <= ?', now)
    if (filter.status === 'revoked') where.add('revoked_at IS NOT NULL')
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    const rows = this.#db.read.all(`SELECT * FROM keys WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`, [
      ...where.values,
      filter.limit + 1,
    ])
    return pageOf(
      rows,
      filter.limit,
      (row) => [row.created_at as number, row.n as number],
      (row) => presentKey(row, now),
    )
  }

  /** Whether any root key was ever used; if not, the operator may not have seen one. */
  hasUsedRoot(): boolean {
    const row = this.#db.read.get(`SELECT 1 FROM keys WHERE kind = 'root' AND last_used_at IS NOT NULL LIMIT 1`)
    return row !== undefined
  }

  get(teamId: string, id: string): ApiKey | undefined {
    const row = this.#db.read.get('SELECT * FROM keys WHERE id = ? AND team_id = ?', [id, teamId])
    return row && presentKey(row, this.#clock.now())
  }

  /** The team of a key; undefined for an unknown id. Only for the operator. */
  teamOf(id: string): string | undefined {
    const row = this.#db.read.get<{ team_id: string }>('SELECT team_id FROM keys WHERE id = ?', [id])
    return row?.team_id
  }

  /** How many active keys each of these mailboxes has; those without any are left out. */
  countByMailbox(mailboxIds: readonly string[], reader: Reader = this.#db.read): Map<string, number> {
    const marks = placeholders(mailboxIds)
    const rows = reader.all<{ mailbox_id: string; count: number }>(
      `SELECT mailbox_id, count(*) AS count FROM keys WHERE mailbox_id IN (${marks}) AND ${ACTIVE} GROUP BY mailbox_id`,
      [...mailboxIds, this.#clock.now()],
    )
    return new Map(rows.map((row) => [row.mailbox_id, row.count]))
  }

  /**
   * Renames a key or sets its expiry; an expiry can only be moved to an earlier time.
   * @param check receives the current record inside the unit of work; throws to refuse
   * @throws ProductError not_found, conflict (not active), validation_error
   */
  async update(
    teamId: string,
    id: string,
    change: { name?: string; expiresAt?: number },
    check: (current: ApiKey) => void = () => {},
  ): Promise<ApiKey> {
    return this.#db.write((tx) => {
      const now = this.#clock.now()
      const row = tx.get('SELECT * FROM keys WHERE id = ? AND team_id = ?', [id, teamId])
      if (row === undefined) throw notFound('API key')
      check(presentKey(row, now))
      this.#activeRow(tx, teamId, id, now)
      const name = change.name === undefined ? (row.name as string) : checkName(change.name, NAME_MAX)
      const before = row.expires_at as number | null
      const expiresAt = change.expiresAt ?? before
      checkExpiry(change.expiresAt, now)
      if (before !== null && expiresAt !== null && expiresAt > before) {
        throw invalid('expires_at', 'too_big', 'The expiry of a key can only be moved to an earlier time.')
      }
      tx.run('UPDATE keys SET name = ?, expires_at = ? WHERE n = ?', [name, expiresAt, row.n])
      return presentKey({ ...row, name, expires_at: expiresAt }, now)
    })
  }

  /**
   * Revokes a key immediately. Idempotent.
   * @param check as in `update`
   * @throws ProductError not_found
   */
  async revoke(teamId: string, id: string, check: (current: ApiKey) => void = () => {}): Promise<void> {
    await this.#db.write((tx) => {
      const now = this.#clock.now()
      const row = tx.get('SELECT * FROM keys WHERE id = ? AND team_id = ?', [id, teamId])
      if (row === undefined) throw notFound('API key')
      check(presentKey(row, now))
      tx.run('UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE n = ?', [now, row.n as number])
    })
  }

  /** Revokes every key of a mailbox, in the unit of work that deletes it. */
  revokeOf(tx: Tx, mailboxId: string): void {
    tx.run('UPDATE keys SET revoked_at = ? WHERE mailbox_id = ? AND revoked_at IS NULL', [this.#clock.now(), mailboxId])
  }

  /** A member or key, and all keys that it made, or that such a key made. */
  makersFrom(teamId: string, maker: string, reader: Reader = this.#db.read): string[] {
    const sql = `WITH RECURSIVE makers (id) AS
      (SELECT ? UNION SELECT keys.id FROM keys JOIN makers ON keys.created_by = makers.id WHERE keys.team_id = ?)
      SELECT id FROM makers`
    return reader.all<{ id: string }>(sql, [maker, teamId]).map(({ id }) => id)
  }

  /** The active keys that one of these made, newest first. */
  madeBy(teamId: string, makers: readonly string[], reader: Reader = this.#db.read): ApiKey[] {
    const now = this.#clock.now()
    const sql = `SELECT * FROM keys WHERE created_by IN (SELECT value FROM json_each(?)) AND team_id = ? AND ${ACTIVE}
      ORDER BY created_at DESC, n DESC`
    return reader.all(sql, [JSON.stringify(makers), teamId, now]).map((row) => presentKey(row, now))
  }

  revokeMadeBy(tx: Tx, teamId: string, makers: readonly string[]): void {
    const sql = `UPDATE keys SET revoked_at = ? WHERE created_by IN (SELECT value FROM json_each(?)) AND team_id = ?
      AND revoked_at IS NULL`
    tx.run(sql, [this.#clock.now(), JSON.stringify(makers), teamId])
  }

  /** Deletes every key of a purged mailbox. */
  purgeOf(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM keys WHERE mailbox_id = ?', [mailboxId])
  }

  /**
   * Rotates the secret of a key; the old one is valid for `graceSeconds` more.
   * @param check receives the current record inside the unit of work; throws to refuse
   * @throws ProductError not_found, validation_error, conflict (the key is not active)
   */
  async rotate(
    teamId: string,
    id: string,
    graceSeconds: number,
    check: (current: ApiKey) => void = () => {},
  ): Promise<IssuedKey> {
    if (!Number.isInteger(graceSeconds) || graceSeconds < 0 || graceSeconds > GRACE_SECONDS_MAX) {
      const rule = graceSeconds > GRACE_SECONDS_MAX ? 'too_big' : 'too_small'
      throw invalid(
        'grace_seconds',
        rule,
        `The grace period must be a whole number of seconds from 0 to ${GRACE_SECONDS_MAX}.`,
      )
    }
    return this.#db.write((tx) => {
      const now = this.#clock.now()
      const row = this.#activeRow(tx, teamId, id, now)
      check(presentKey(row, now))
      const secret = newSecret(row.kind === 'root' ? 'srk_' : 'smk_')
      const columns = secretColumns(secret)
      const previous =
        graceSeconds > 0 ? { hash: row.hash, until: now + graceSeconds * 1000 } : { hash: null, until: null }
      tx.run('UPDATE keys SET hash = ?, prefix = ?, last4 = ?, previous_hash = ?, previous_until = ? WHERE n = ?', [
        columns.hash,
        columns.prefix,
        columns.last4,
        previous.hash,
        previous.until,
        row.n,
      ])
      return { record: presentKey({ ...row, ...columns }, now), secret }
    })
  }

  #activeRow(tx: Tx, teamId: string, id: string, now: number): Row {
    const row = tx.get('SELECT * FROM keys WHERE id = ? AND team_id = ?', [id, teamId])
    if (row === undefined) throw notFound('API key')
    if (statusOf(row, now) !== 'active') throw conflict('The API key is no longer active.')
    return row
  }

  #checkKeyCount(tx: Tx, mailboxId: string, now: number): void {
    const row = tx.get<{ count: number }>(`SELECT count(*) AS count FROM keys WHERE mailbox_id = ? AND ${ACTIVE}`, [
      mailboxId,
      now,
    ])
    if (row!.count >= MAILBOX_KEYS_MAX) {
      throw conflict(`The mailbox already has ${MAILBOX_KEYS_MAX} active API keys. Revoke one first.`)
    }
  }

  // Written in the background, at most once a minute per key.
  #noteUse(row: Row, now: number): void {
    const id = row.id as string
    const minute = now - (now % MINUTE_MS)
    if ((row.last_used_at as number | null) === minute || this.#noting.has(id)) return
    this.#noting.add(id)
    this.#db
      .write((tx) => tx.run('UPDATE keys SET last_used_at = ? WHERE n = ?', [minute, row.n]))
      // The next use writes it again; a failed write must not fail the request.
      .catch(() => {})
      .finally(() => this.#noting.delete(id))
  }
}

function secretColumns(secret: string) {
  return { hash: sha256(secret), prefix: secret.slice(0, 10), last4: secret.slice(-4) }
}
