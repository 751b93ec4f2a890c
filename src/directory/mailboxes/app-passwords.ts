// App passwords: secrets of a mailbox for mail programs, stored as a hash and as keys of SCRAM (docs/design/mail-programs.md §1.1).

import { groupedAppSecret, newAppSecret, readAppSecret } from '../../base/app-secret.ts'
import type { Clock } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import { conflict, invalid, notFound, ProductError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { deriveScramKeys, SCRAM_KEY_BYTES, type ScramKeys } from '../../base/scram.ts'
import { sha256, type Vault } from '../../base/secrets.ts'
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../config/client-protocols.ts'
import type { Db, Reader, Row, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { placeholders, Where } from '../../db/sql-text.ts'
import {
  type CredentialRecord,
  checkExpiry,
  checkPermissions,
  type KeyStatus,
  presentCredential,
} from '../keys/key-record.ts'
import { checkName } from '../keys/teams.ts'
import { loginName } from './mailbox-input.ts'
import type { Mailbox } from './mailbox-record.ts'

/** An app password without its secret, which only `issue` returns. */
export interface AppPassword extends CredentialRecord {
  mailboxId: string
  protocols: readonly ClientProtocol[]
  /** Whether submission keeps a copy of sent messages in Sent. */
  savesSent: boolean
  /** Address without a port. */
  lastUsedFrom: string | null
  /** What the program says of itself. */
  lastUsedClient: string | null
}

export interface IssuedAppPassword {
  record: AppPassword
  secret: string
}

/** @param now ms; decides whether it has expired */
export function presentAppPassword(row: Row, now: number): AppPassword {
  return {
    ...presentCredential(row, now),
    mailboxId: row.mailbox_id as string,
    permissions: JSON.parse(row.permissions as string) as string[],
    protocols: JSON.parse(row.protocols as string) as ClientProtocol[],
    savesSent: row.saves_sent === 1,
    lastUsedFrom: row.last_used_from as string | null,
    lastUsedClient: row.last_used_client as string | null,
  }
}

/** The column `scram`: the keys of each spelling one after the other. */
function packScramKeys(spellings: readonly ScramKeys[]): Buffer {
  return Buffer.concat(spellings.flatMap(({ storedKey, serverKey }) => [storedKey, serverKey]))
}

function unpackScramKeys(column: Uint8Array): ScramKeys[] {
  const keyAt = (index: number) => column.subarray(index * SCRAM_KEY_BYTES, (index + 1) * SCRAM_KEY_BYTES)
  const count = Math.floor(column.length / (2 * SCRAM_KEY_BYTES))
  return Array.from({ length: count }, (_, index) => ({
    storedKey: keyAt(2 * index),
    serverKey: keyAt(2 * index + 1),
  }))
}

/** Maximum active app passwords of a mailbox (docs/design/mail-programs.md §1.1). A proof of SCRAM is tried against each. */
export const APP_PASSWORDS_MAX = 25
/** Expired and revoked ones of a mailbox that are kept for the list. */
export const INACTIVE_MAX = 100
const NAME_MAX = 100
const CLIENT_MAX = 200
const SALT_BYTES = 16
const ACTIVE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)'

interface AppPasswordInput {
  name: string
  /** All scopes by default. */
  permissions?: readonly string[]
  /** All protocols by default. */
  protocols?: readonly ClientProtocol[]
  savesSent?: boolean
  expiresAt?: number | null
  createdBy: string
}

interface AppPasswordFilter {
  status?: KeyStatus
  limit: number
  after: PageKey | null
}

interface Deps {
  db: Db
  clock: Clock
  vault: Vault
  /** `Mailboxes`, which itself revokes app passwords. */
  mailboxIn(reader: Reader, teamId: string, id: string): Mailbox | undefined
}

export class AppPasswords {
  readonly #deps: Deps
  readonly #saltOf: (name: string) => Buffer

  constructor(deps: Deps) {
    this.#deps = deps
    const mac = deps.vault.macer('scram-salt')
    this.#saltOf = (name) => mac(name).subarray(0, SALT_BYTES)
  }

  /** The salt of SCRAM for a user name, known or not: all app passwords of a mailbox share it. */
  scramSalt(name: string): Buffer {
    return this.#saltOf(loginName(name) ?? name)
  }

  /**
   * Issues an app password of a mailbox.
   * @param check receives the mailbox inside the unit of work; throws to refuse
   * @throws ProductError not_found, conflict (deleted mailbox, too many), insufficient_permissions (inbox of an agent), validation_error
   */
  async issue(
    teamId: string,
    mailboxId: string,
    input: AppPasswordInput,
    check?: (mailbox: Mailbox, tx: Tx) => void,
  ): Promise<IssuedAppPassword> {
    const { db, clock, mailboxIn } = this.#deps
    const columns = checkInput(input, clock.now())
    const email = mailboxIn(db.read, teamId, mailboxId)?.email
    if (email === undefined) throw notFound('mailbox')
    const secret = newAppSecret()
    const salt = this.scramSalt(email)
    const spellings = [secret, groupedAppSecret(secret)].map((spelling) => deriveScramKeys(spelling, salt))
    const scram = packScramKeys(await Promise.all(spellings))
    return db.write((tx) => {
      const mailbox = mailboxIn(tx, teamId, mailboxId)
      if (mailbox === undefined) throw notFound('mailbox')
      check?.(mailbox, tx)
      refuseMailbox(mailbox)
      const now = clock.now()
      this.#checkCount(tx, mailboxId, now)
      const row = {
        ...{ id: newId('appPassword'), mailbox_id: mailboxId, team_id: teamId, ...columns },
        ...{ hash: sha256(secret), scram, last4: secret.slice(-4) },
        ...{ created_by: input.createdBy, created_at: now },
      }
      tx.insert('app_passwords', row)
      removeOldest(tx, mailboxId, now)
      return { record: presentAppPassword(readIn(tx, mailboxId, row.id)!, now), secret }
    })
  }

  /** Newest first. */
  list(mailboxId: string, filter: AppPasswordFilter): Page<AppPassword> {
    const { db, clock } = this.#deps
    const now = clock.now()
    const where = new Where().add('mailbox_id = ?', mailboxId)
    if (filter.status === 'active') where.add(ACTIVE, now)
    if (filter.status === 'expired') where.add('revoked_at IS NULL AND expires_at <= ?', now)
    if (filter.status === 'revoked') where.add('revoked_at IS NOT NULL')
    if (filter.after !== null) where.add('(created_at, n) < (?, ?)', ...filter.after)
    const rows = db.read.all(
      `SELECT * FROM app_passwords WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, filter.limit + 1],
    )
    return pageOf(
      rows,
      filter.limit,
      (row) => [row.created_at as number, row.n as number],
      (row) => presentAppPassword(row, now),
    )
  }

  get(mailboxId: string, id: string): AppPassword | undefined {
    const row = readIn(this.#deps.db.read, mailboxId, id)
    return row && presentAppPassword(row, this.#deps.clock.now())
  }

  /** How many active app passwords each of these mailboxes has; those without any are left out. */
  countByMailbox(mailboxIds: readonly string[], reader: Reader = this.#deps.db.read): Map<string, number> {
    const rows = reader.all<{ mailbox_id: string; count: number }>(
      `SELECT mailbox_id, count(*) AS count FROM app_passwords
       WHERE mailbox_id IN (${placeholders(mailboxIds)}) AND ${ACTIVE} GROUP BY mailbox_id`,
      [...mailboxIds, this.#deps.clock.now()],
    )
    return new Map(rows.map((row) => [row.mailbox_id, row.count]))
  }

  /**
   * Changes an app password; an expiry can only be moved to an earlier time.
   * @throws ProductError not_found, conflict (not active), validation_error
   */
  update(
    mailboxId: string,
    id: string,
    change: { name?: string; savesSent?: boolean; expiresAt?: number },
  ): Promise<AppPassword> {
    const { db, clock } = this.#deps
    return db.write((tx) => {
      const now = clock.now()
      const row = readIn(tx, mailboxId, id)
      if (row === undefined) throw notFound('app password')
      const current = presentAppPassword(row, now)
      if (current.status !== 'active') throw conflict('The app password is no longer active.')
      checkExpiry(change.expiresAt, now)
      const expiresAt = change.expiresAt ?? current.expiresAt
      if (current.expiresAt !== null && expiresAt !== null && expiresAt > current.expiresAt) {
        throw invalid('expires_at', 'too_big', 'The expiry of an app password can only be moved to an earlier time.')
      }
      const name = change.name === undefined ? current.name : checkName(change.name, NAME_MAX)
      const savesSent = change.savesSent ?? current.savesSent
      const sql = 'UPDATE app_passwords SET name = ?, saves_sent = ?, expires_at = ? WHERE n = ?'
      tx.run(sql, [name, savesSent, expiresAt, row.n])
      return { ...current, name, savesSent, expiresAt }
    })
  }

  /**
   * Revokes an app password; its sessions end within 30 s. Idempotent.
   * @param check runs inside the unit of work; throws to refuse
   * @throws ProductError not_found
   */
  async revoke(mailboxId: string, id: string, check: (tx: Tx) => void = () => {}): Promise<void> {
    const { db, clock } = this.#deps
    await db.write((tx) => {
      const now = clock.now()
      const row = readIn(tx, mailboxId, id)
      if (row === undefined) throw notFound('app password')
      check(tx)
      tx.run('UPDATE app_passwords SET revoked_at = coalesce(revoked_at, ?) WHERE n = ?', [now, row.n as number])
    })
  }

  /** Revokes those of a mailbox that a member (`usr_…`) made, whose access to it ends. */
  revokeMadeBy(tx: Tx, mailboxId: string, memberId: string): void {
    const sql = 'UPDATE app_passwords SET revoked_at = ? WHERE mailbox_id = ? AND created_by = ? AND revoked_at IS NULL'
    tx.run(sql, [this.#deps.clock.now(), mailboxId, memberId])
  }

  /** The active ones that one of these members and keys made, newest first. */
  madeBy(teamId: string, makers: readonly string[], reader: Reader = this.#deps.db.read): AppPassword[] {
    const now = this.#deps.clock.now()
    const sql = `SELECT * FROM app_passwords WHERE created_by IN (SELECT value FROM json_each(?)) AND team_id = ? AND ${ACTIVE}
      ORDER BY n DESC`
    return reader.all(sql, [JSON.stringify(makers), teamId, now]).map((row) => presentAppPassword(row, now))
  }

  revokeAllMadeBy(tx: Tx, teamId: string, makers: readonly string[]): void {
    const sql = `UPDATE app_passwords SET revoked_at = ? WHERE created_by IN (SELECT value FROM json_each(?)) AND team_id = ?
      AND revoked_at IS NULL`
    tx.run(sql, [this.#deps.clock.now(), JSON.stringify(makers), teamId])
  }

  /** Revokes all of a mailbox, in the unit of work that deletes it. */
  revokeOf(tx: Tx, mailboxId: string): void {
    const sql = 'UPDATE app_passwords SET revoked_at = ? WHERE mailbox_id = ? AND revoked_at IS NULL'
    tx.run(sql, [this.#deps.clock.now(), mailboxId])
  }

  /** Deletes all of a purged mailbox. */
  purgeOf(tx: Tx, mailboxId: string): void {
    tx.run('DELETE FROM app_passwords WHERE mailbox_id = ?', [mailboxId])
  }

  /** The app password of a secret as typed, whatever its status; undefined for an unknown one. */
  bySecret(typed: string): AppPassword | undefined {
    const secret = readAppSecret(typed)
    if (secret === null) return undefined
    const { db, clock } = this.#deps
    const row = db.read.get('SELECT * FROM app_passwords WHERE hash = ?', [sha256(secret)])
    return row && presentAppPassword(row, clock.now())
  }

  /** The active app passwords of a mailbox with their keys of SCRAM, one for each spelling. */
  scramKeys(mailboxId: string): { appPassword: AppPassword; keys: readonly ScramKeys[] }[] {
    const { db, clock } = this.#deps
    const now = clock.now()
    const sql = `SELECT * FROM app_passwords WHERE mailbox_id = ? AND ${ACTIVE} LIMIT ?`
    return db.read.all(sql, [mailboxId, now, APP_PASSWORDS_MAX]).map((row) => ({
      appPassword: presentAppPassword(row, now),
      keys: unpackScramKeys(row.scram as Uint8Array),
    }))
  }

  /** Those of the given ids that are active. */
  activeAmong(ids: readonly string[]): Set<string> {
    const { db, clock } = this.#deps
    const sql = `SELECT id FROM app_passwords WHERE id IN (${placeholders(ids)}) AND ${ACTIVE}`
    return new Set(db.read.all<{ id: string }>(sql, [...ids, clock.now()]).map(({ id }) => id))
  }

  /** Records a use, in the unit of work that records the sign-in. @param client null: not known (yet) */
  noteUseIn(tx: Tx, id: string, use: { from: string; client: string | null }): void {
    const now = this.#deps.clock.now()
    const minute = now - (now % MINUTE_MS)
    tx.run(
      `UPDATE app_passwords SET last_used_at = ?, last_used_from = ?, last_used_client = coalesce(?, last_used_client)
       WHERE id = ? AND (last_used_at IS NOT ? OR last_used_from IS NOT ? OR (? IS NOT NULL AND last_used_client IS NOT ?))`,
      [minute, use.from, use.client, id, minute, use.from, use.client, use.client],
    )
  }

  #checkCount(tx: Tx, mailboxId: string, now: number): void {
    const sql = `SELECT count(*) AS count FROM app_passwords WHERE mailbox_id = ? AND ${ACTIVE}`
    const { count } = tx.get<{ count: number }>(sql, [mailboxId, now])!
    if (count >= APP_PASSWORDS_MAX) {
      throw conflict(`The mailbox already has ${APP_PASSWORDS_MAX} active app passwords. Revoke one first.`)
    }
  }
}

/** What a program says of itself, as it is stored: without control characters, cut. @returns null for nothing */
export function clientText(given: string | null | undefined): string | null {
  const text = (given ?? '').replace(/[\p{C}\s]+/gu, ' ').trim()
  return text === '' ? null : [...text].slice(0, CLIENT_MAX).join('')
}

function readIn(reader: Reader, mailboxId: string, id: string): Row | undefined {
  return reader.get('SELECT * FROM app_passwords WHERE id = ? AND mailbox_id = ?', [id, mailboxId])
}

function removeOldest(tx: Tx, mailboxId: string, now: number): void {
  const inactive = `SELECT n FROM app_passwords WHERE mailbox_id = ? AND NOT (${ACTIVE}) ORDER BY created_at DESC, n DESC`
  tx.run(`DELETE FROM app_passwords WHERE n IN (${inactive} LIMIT -1 OFFSET ?)`, [mailboxId, now, INACTIVE_MAX])
}

function refuseMailbox(mailbox: Mailbox): void {
  if (mailbox.status === 'deleted') throw conflict('The mailbox is deleted.')
  if (mailbox.isAgent) {
    throw new ProductError(
      'insufficient_permissions',
      'The inbox of an agent has no app passwords; it uses its tokens.',
    )
  }
}

/** @throws ProductError validation_error */
function checkInput(input: AppPasswordInput, now: number): Row {
  const permissions = checkPermissions({ kind: 'mailbox', permissions: input.permissions })
  const protocols = input.protocols ?? CLIENT_PROTOCOLS
  if (protocols.length === 0) throw invalid('protocols', 'too_small', 'At least one protocol must be given.')
  checkExpiry(input.expiresAt, now)
  return {
    name: checkName(input.name, NAME_MAX),
    permissions: JSON.stringify(permissions),
    protocols: JSON.stringify(CLIENT_PROTOCOLS.filter((one) => protocols.includes(one))),
    saves_sent: input.savesSent ?? false,
    expires_at: input.expiresAt ?? null,
  }
}
