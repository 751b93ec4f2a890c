// Messages that were erased because they were removed at the server of an outside account: held for a time, so that they can be restored.

import { DAY_MS } from '../../base/durations.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Address } from '../../mime/message.ts'
import type { NamedContent } from '../content/blobs.ts'
import type { ErasedContent, ErasedContents } from '../content/erased-content.ts'
import { foldersByMessage } from '../entries/folders-entries.ts'
import { type Folders, HIDDEN_ROLES } from '../rows/folders.ts'
import type { Account, FolderRole, MessageDetail } from '../rows/records.ts'
import { editRowsByNumber } from './edit-rows.ts'
import type { StoredAddresses } from './rows.ts'

/** How long a removed message is held, ms. */
export const REMOVED_HELD_MS = 30 * DAY_MS
/** Removed messages that are held of a mailbox; their bytes are at most those of its quota. */
export const REMOVED_MAX = 100_000
/** Rows deleted in one unit of work. */
const ROWS_PER_BATCH = 500

/** A folder as it was when the message was removed. */
export interface RemovedFrom {
  id: string
  /** Names from the top level down, joined by "/". */
  path: string
  role: FolderRole | null
}

export interface RemovedMessage extends Pick<MessageDetail, 'authentication' | 'spam' | 'envelope' | 'keywords'> {
  n: number
  /** `rmsg_…` */
  id: string
  folders: RemovedFrom[]
  subject: string
  from: Address
  bcc: Address[]
  /** SHA-256 of its bytes. */
  hash: Uint8Array
  sizeBytes: number
  /** ms */
  receivedAt: number
  removedAt: number
}

/** How much is held. */
export interface RemovedTotals {
  messages: number
  bytes: number
}

/** Which messages are meant: those with these ids, or those that were removed since a time (ms). */
export interface RemovedChoice {
  ids?: readonly string[]
  since?: number
}

interface MessageRow {
  n: number
  size_bytes: number
  received_at: number
  created_at: number
  blob: Uint8Array
  subject: string
  from_email: string
  from_name: string
  addresses: string
  envelope: string
  authentication: string
  spam: string
}

interface Row extends Omit<MessageRow, 'created_at'> {
  id: string
  removed_at: number
  folders: string
  keywords: string
}

interface Deps {
  db: Db
  folders: Folders
  erased: Pick<ErasedContents, 'add'>
}

const CONTENT =
  'size_bytes, received_at, blob, subject, from_email, from_name, addresses, envelope, authentication, spam'
const COLUMNS = `n, id, removed_at, folders, keywords, ${CONTENT}`

export class RemovedMessages {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Holds messages in the unit of work that erases them, before it does. @param numbers of messages @param now ms */
  hold(tx: Tx, account: Account, numbers: readonly number[], now: number): void {
    const filed = foldersByMessage(tx, [...numbers])
    const paths = new Map(this.#deps.folders.paths(account, tx).map((folder) => [folder.n, folder]))
    const keywords = editRowsByNumber(tx, account, numbers)
    const rows = tx.all<MessageRow>(
      `SELECT n, created_at, ${CONTENT} FROM messages WHERE +account = ? AND n IN (SELECT value FROM json_each(?))`,
      [account.n, JSON.stringify(numbers)],
    )
    for (const { n, created_at: contentAt, ...content } of rows) {
      const folders = (filed.get(n) ?? []).flatMap(({ n: folder }) => paths.get(folder) ?? [])
      const from = folders.map(({ id, path, role }): RemovedFrom => ({ id, path, role }))
      tx.insert('removed_messages', {
        ...{ ...content, id: newId('removedMessage'), account: account.n, removed_at: now, content_at: contentAt },
        discarded: from.every(({ role }) => HIDDEN_ROLES.some((hidden) => hidden === role)) ? 1 : 0,
        folders: JSON.stringify(from),
        keywords: JSON.stringify(keywords.get(n)?.keywords ?? []),
      })
    }
  }

  /** The last removed first. */
  list(account: Pick<Account, 'n'>, { limit, after }: { limit: number; after: PageKey | null }): Page<RemovedMessage> {
    const rows = this.#deps.db.read.all<Row>(
      `SELECT ${COLUMNS} FROM removed_messages WHERE account = ?${after ? ' AND (removed_at, n) < (?, ?)' : ''}
       ORDER BY removed_at DESC, n DESC LIMIT ?`,
      [account.n, ...(after ?? []), limit + 1],
    )
    return pageOf(rows, limit, (row) => [row.removed_at, row.n], present)
  }

  totals({ n }: Pick<Account, 'n'>, since = 0, reader: Reader = this.#deps.db.read): RemovedTotals {
    return reader.get<RemovedTotals>(
      `SELECT count(*) AS messages, coalesce(sum(size_bytes), 0) AS bytes FROM removed_messages
       WHERE account = ? AND removed_at >= ?`,
      [n, since],
    )!
  }

  /** The next messages of a choice behind a place, the last removed first. */
  chosen(
    { n }: Pick<Account, 'n'>,
    { ids, since = 0 }: RemovedChoice,
    { after, limit }: { after: Pick<RemovedMessage, 'n' | 'removedAt'> | null; limit: number },
  ): RemovedMessage[] {
    const isNamed = ids === undefined ? '' : ` AND id IN (${placeholders(ids)})`
    const rows = this.#deps.db.read.all<Row>(
      `SELECT ${COLUMNS} FROM removed_messages WHERE account = ? AND removed_at >= ?${isNamed}${after ? ' AND (removed_at, n) < (?, ?)' : ''}
       ORDER BY removed_at DESC, n DESC LIMIT ?`,
      [n, since, ...(ids ?? []), ...(after ? [after.removedAt, after.n] : []), limit],
    )
    return rows.map(present)
  }

  /** The numbers of those that are still held. */
  heldIn(tx: Tx, numbers: readonly number[]): Set<number> {
    const rows = tx.all<{ n: number }>('SELECT n FROM removed_messages WHERE n IN (SELECT value FROM json_each(?))', [
      JSON.stringify(numbers),
    ])
    return new Set(rows.map(({ n }) => n))
  }

  /** Whether a message with the same bytes is in one of some folders (by number). */
  isFiled(tx: Tx, account: Pick<Account, 'n'>, hash: Uint8Array, folders: readonly number[]): boolean {
    // The plus makes SQLite use the index on `blob`.
    const rows = tx.all<{ n: number }>('SELECT n FROM messages WHERE blob = ? AND +account = ?', [hash, account.n])
    const filed = foldersByMessage(
      tx,
      rows.map(({ n }) => n),
    )
    return [...filed.values()].some((all) => all.some(({ n }) => folders.includes(n)))
  }

  /** Whether a message with the same bytes is held. */
  isHeld(tx: Tx, account: Pick<Account, 'n'>, hash: Uint8Array): boolean {
    const sql = 'SELECT 1 FROM removed_messages WHERE blob = ? AND +account = ? LIMIT 1'
    return tx.get(sql, [hash, account.n]) !== undefined
  }

  /** Forgets messages that were restored. */
  forgetIn(tx: Tx, numbers: readonly number[]): void {
    tx.run('DELETE FROM removed_messages WHERE n IN (SELECT value FROM json_each(?))', [JSON.stringify(numbers)])
  }

  /**
   * Forgets what a mailbox holds beyond its bounds: messages of Trash and Junk first, then those that were removed first.
   * @param mostBytes its quota
   */
  async trim(account: Pick<Account, 'n'>, mostBytes: number): Promise<void> {
    for (;;) {
      const { messages, bytes } = this.totals(account)
      const over = { messages: messages - REMOVED_MAX, bytes: bytes - mostBytes }
      if (over.messages <= 0 && over.bytes <= 0) return
      await this.#deps.db.write((tx) => this.#trimNext(tx, account, over))
    }
  }

  #trimNext(tx: Tx, { n: account }: Pick<Account, 'n'>, over: RemovedTotals): void {
    const rows = tx.all<{ n: number; size_bytes: number }>(
      `SELECT n, size_bytes FROM removed_messages WHERE account = ? ORDER BY discarded DESC, n LIMIT ?`,
      [account, ROWS_PER_BATCH],
    )
    let [messages, bytes] = [0, 0]
    const first: number[] = []
    for (const row of rows) {
      if (messages >= over.messages && bytes >= over.bytes) break
      first.push(row.n)
      messages++
      bytes += row.size_bytes
    }
    this.#erase(tx, first)
  }

  /** Forgets messages that were removed before a time (ms), in batches. @returns how many */
  async expire(before: number, signal: AbortSignal): Promise<number> {
    let deleted = 0
    for (let count = ROWS_PER_BATCH; count === ROWS_PER_BATCH && !signal.aborted; deleted += count) {
      count = await this.#deps.db.write((tx) => {
        const rows = tx.all<{ n: number }>('SELECT n FROM removed_messages WHERE removed_at <= ? LIMIT ?', [
          before,
          ROWS_PER_BATCH,
        ])
        this.#erase(
          tx,
          rows.map(({ n }) => n),
        )
        return rows.length
      })
    }
    return deleted
  }

  #erase(tx: Tx, numbers: readonly number[]): void {
    const rows = tx.all<ErasedContent & { account: number }>(
      `DELETE FROM removed_messages WHERE n IN (SELECT value FROM json_each(?))
       RETURNING account, blob AS hash, size_bytes AS sizeBytes, content_at AS createdAt`,
      [JSON.stringify(numbers)],
    )
    for (const [account, contents] of Map.groupBy(rows, (row) => row.account))
      tx.afterCommit(() => this.#deps.erased.add(account, contents))
  }

  /** Deletes the next rows of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, { n }: Pick<Account, 'n'>, limit: number): number {
    const sql = 'DELETE FROM removed_messages WHERE n IN (SELECT n FROM removed_messages WHERE account = ? LIMIT ?)'
    return tx.run(sql, [n, limit]).changes
  }

  /** The hashes that a removed message refers to, as hex. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const rows = await this.#deps.db.scan.all<{ blob: Uint8Array }>(
      `SELECT DISTINCT blob FROM removed_messages WHERE blob IN (${placeholders(hashes)})`,
      hashes,
    )
    return new Set(rows.map(({ blob }) => Buffer.from(blob).toString('hex')))
  }
}

/** The next contents of removed messages after number `after` (0 at first), at most `limit`. */
export function removedContents(reader: Reader, after: number, limit: number): NamedContent[] {
  return reader.all('SELECT n, blob AS hash FROM removed_messages WHERE n > ? ORDER BY n LIMIT ?', [after, limit])
}

function present(row: Row): RemovedMessage {
  const { bcc } = JSON.parse(row.addresses) as StoredAddresses
  return {
    ...{ n: row.n, id: row.id, subject: row.subject, from: { email: row.from_email, name: row.from_name }, bcc },
    ...{ hash: row.blob, sizeBytes: row.size_bytes, receivedAt: row.received_at, removedAt: row.removed_at },
    folders: JSON.parse(row.folders) as RemovedFrom[],
    keywords: JSON.parse(row.keywords) as string[],
    authentication: JSON.parse(row.authentication) as MessageDetail['authentication'],
    spam: JSON.parse(row.spam) as MessageDetail['spam'],
    envelope: JSON.parse(row.envelope) as MessageDetail['envelope'],
  }
}
