// Messages of outside accounts as last seen (the base of the merge): under which UID, which message here, and with which flags.

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Db, DbReads, Reader, Row, Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'
import { packMarks, unpackMarks } from '../model/marks.ts'
import type { Marks } from '../model/merge.ts'
import type { SkipReason } from '../model/records.ts'
import type { UidSpan } from '../model/server.ts'
import { CONTENT } from './content-state.ts'
import { ErasedMessages } from './erased-messages.ts'

/** The first pause before a skipped message is asked for again (ms); the next are 8 times as long each, up to the longest. */
const SKIPPED_RETRY_MS = 2 * MINUTE_MS
const SKIPPED_RETRY_MAX_MS = 7 * DAY_MS
/** When a skipped message is asked for again, ms. */
export const SKIPPED_RETRY_AT = `coalesce(m.tried_at, 0)
  + min(${SKIPPED_RETRY_MS} << (3 * (max(min(m.tries, 8), 1) - 1)), ${SKIPPED_RETRY_MAX_MS})`

export interface RemoteMessage {
  /** Number of the remote folder. */
  folder: number
  /** Negative: it is gone from the folder, and may be found in another one. */
  uid: number
  /** Number of the message here; null: it has none (yet). */
  message: number | null
  marks: string[]
  /** Gmail's labels; null for other servers. */
  labels: string[] | null
  key: Uint8Array
  /** One of {@link CONTENT}. */
  state: number
  tries: number
  /** ms */
  triedAt: number | null
  /** Why its content is not here; null when it is, or is not to be. */
  skipReason: SkipReason | null
  /** See `contentDigest`; null: not known. */
  digest: Uint8Array | null
}

interface MessageRow {
  folder: number
  uid: number
  message: number | null
  flags: number
  keywords: string | null
  labels: string | null
  key: Uint8Array
  state: number
  tries: number
  tried_at: number | null
  skipReason: SkipReason | null
  digest: Uint8Array | null
}

const COLUMNS = `m.remote_folder AS folder, m.uid, m.message, m.flags, m.keywords, m.labels, m.message_key AS key, m.state,
  m.tries, m.tried_at, m.skip_reason AS skipReason, m.digest`

export class RemoteMessages {
  /** Messages that were deleted here and are still there. */
  readonly erased: ErasedMessages
  readonly #db: DbReads

  constructor(db: Db) {
    this.#db = db
    this.erased = new ErasedMessages(db)
  }

  add(tx: Tx, messages: readonly RemoteMessage[]): void {
    insertMany(
      tx,
      'remote_messages',
      messages.map(({ folder, uid, message, marks, labels, key, triedAt, skipReason, ...more }): Row => {
        const { flags, keywords } = packMarks(marks)
        const packed = { flags, keywords, labels: labels && JSON.stringify(labels), message_key: key }
        return { remote_folder: folder, uid, message, ...packed, ...more, tried_at: triedAt, skip_reason: skipReason }
      }),
    )
  }

  remove(tx: Tx, folder: number, uids: readonly number[]): void {
    tx.run('DELETE FROM remote_messages WHERE remote_folder = ? AND uid IN (SELECT value FROM json_each(?))', [
      ...[folder, JSON.stringify(uids)],
    ])
  }

  /** The first rows of a folder, to remove all of them in pieces. @returns how many were removed */
  removeSome(tx: Tx, folder: number, limit: number): number {
    const { changes } = tx.run(
      `DELETE FROM remote_messages WHERE (remote_folder, uid) IN
         (SELECT remote_folder, uid FROM remote_messages WHERE remote_folder = ? LIMIT ?)`,
      [folder, limit],
    )
    return changes
  }

  /** Writes what the server says of messages now. */
  mark(
    tx: Tx,
    folder: number,
    seen: readonly { uid: number; marks: Marks; labels?: readonly string[] | null }[],
  ): void {
    const rows = seen.map(({ uid, marks, labels }) => {
      const { flags, keywords } = packMarks(marks)
      return [folder, uid, flags, keywords, labels == null ? null : JSON.stringify(labels)]
    })
    // With the folder as a parameter, SQLite would read the whole folder for each message.
    tx.run(
      `UPDATE remote_messages SET flags = j.value ->> 2, keywords = j.value ->> 3, labels = coalesce(j.value ->> 4, labels)
       FROM json_each(?) j WHERE remote_messages.remote_folder = j.value ->> 0 AND remote_messages.uid = j.value ->> 1`,
      [JSON.stringify(rows)],
    )
  }

  /** What was learnt about the content of messages. */
  setContent(
    tx: Tx,
    folder: number,
    uid: number,
    content: Pick<RemoteMessage, 'message' | 'state' | 'tries' | 'triedAt' | 'skipReason'> & {
      digest?: Uint8Array | null
    },
  ) {
    const { message, state, tries, triedAt, skipReason, digest = null } = content
    tx.run(
      `UPDATE remote_messages SET message = ?, state = ?, tries = ?, tried_at = ?, skip_reason = ?,
         digest = coalesce(?, digest) WHERE remote_folder = ? AND uid = ?`,
      [...[message, state, tries, triedAt, skipReason, digest, folder, uid]],
    )
  }

  /** Which UIDs of a folder are known, in the scan thread. */
  async spans(folder: number): Promise<UidSpan[]> {
    const { first, last } = await this.#db.scan.columns(
      `SELECT min(uid) AS first, max(uid) AS last FROM
         (SELECT uid, uid - row_number() OVER (ORDER BY uid) AS gap FROM remote_messages WHERE remote_folder = ? AND uid > 0)
       GROUP BY gap ORDER BY 1`,
      [folder],
    )
    return first === undefined ? [] : Array.from(first, (uid, index): UidSpan => [uid, last![index]!])
  }

  /** How many messages of a folder are known, and how many are gone; in the scan thread. */
  async counts(folder: number): Promise<{ present: number; gone: number }> {
    const row = await this.#db.scan.get<{ present: number; gone: number }>(
      `SELECT coalesce(sum(uid > 0), 0) AS present, coalesce(sum(uid < 0), 0) AS gone FROM remote_messages
       WHERE remote_folder = ?`,
      [folder],
    )
    return row!
  }

  /** How many messages of each folder of an account are known, by its number; in the scan thread. */
  async knownCounts(remote: number): Promise<Map<number, number>> {
    const rows = await this.#db.scan.all<{ folder: number; count: number }>(
      `SELECT f.n AS folder, count(*) AS count FROM remote_folders f CROSS JOIN remote_messages m
       WHERE f.remote = ? AND m.remote_folder = f.n AND m.uid > 0 GROUP BY f.n`,
      [remote],
    )
    return new Map(rows.map(({ folder, count }) => [folder, count]))
  }

  /** Messages with UIDs in the spans, ascending, at most `limit`. */
  in(folder: number, spans: readonly UidSpan[], limit: number, reader: Reader = this.#db.read): RemoteMessage[] {
    const rows = reader.all<MessageRow>(
      `SELECT ${COLUMNS} FROM json_each(?) r CROSS JOIN remote_messages m
       WHERE m.remote_folder = ? AND m.uid BETWEEN r.value ->> 0 AND r.value ->> 1 LIMIT ?`,
      [JSON.stringify(spans), folder, limit],
    )
    return rows.map(present)
  }

  /** Messages with the highest UIDs of a folder. */
  newest(folder: number, limit: number): RemoteMessage[] {
    const rows = this.#db.read.all<MessageRow>(
      `SELECT ${COLUMNS} FROM remote_messages m WHERE m.remote_folder = ? AND m.uid > 0 ORDER BY m.uid DESC LIMIT ?`,
      [folder, limit],
    )
    return rows.map(present)
  }

  /** The copies of messages here, by their numbers; also those that are gone from their folders. */
  of(remote: number, messages: readonly number[], reader: Reader = this.#db.read): Map<number, RemoteMessage[]> {
    const rows = reader.all<MessageRow>(
      `SELECT ${COLUMNS} FROM json_each(?) j CROSS JOIN remote_messages m CROSS JOIN remote_folders f
       WHERE m.message = j.value AND f.n = m.remote_folder AND f.remote = ?`,
      [JSON.stringify(messages), remote],
    )
    return Map.groupBy(rows.map(present), ({ message }) => message!)
  }

  /** Messages with one of the keys: of several with one key those that are gone come first, in the order of their UIDs. */
  withKeys(remote: number, keys: readonly Uint8Array[], reader: Reader = this.#db.read): RemoteMessage[] {
    const rows = reader.all<MessageRow>(
      `SELECT ${COLUMNS} FROM json_each(?) j CROSS JOIN remote_messages m CROSS JOIN remote_folders f
       WHERE m.message_key = unhex(j.value) AND f.n = m.remote_folder AND f.remote = ?`,
      [JSON.stringify(keys.map((key) => Buffer.from(key).toString('hex'))), remote],
    )
    // Below zero the lowest former UID is the highest number.
    const order = ({ uid }: RemoteMessage) => (uid < 0 ? -uid : Number.MAX_SAFE_INTEGER)
    return rows.map(present).sort((a, b) => order(a) - order(b))
  }

  /** Some of the messages that are gone from a folder. */
  gone(folder: number, limit: number, reader: Reader = this.#db.read): RemoteMessage[] {
    const rows = reader.all<MessageRow>(
      `SELECT ${COLUMNS} FROM remote_messages m WHERE m.remote_folder = ? AND m.uid < 0 ORDER BY m.uid DESC LIMIT ?`,
      [folder, limit],
    )
    return rows.map(present)
  }

  /** The number of the message that is gone from each folder of an account last, by the number of the folder. */
  lastGone(remote: number): Map<number, number> {
    const rows = this.#db.read.all<{ folder: number; uid: number | null }>(
      `SELECT f.n AS folder, (SELECT min(m.uid) FROM remote_messages m WHERE m.remote_folder = f.n AND m.uid < 0) AS uid
       FROM remote_folders f WHERE f.remote = ?`,
      [remote],
    )
    return new Map(rows.flatMap(({ folder, uid }): [number, number][] => (uid === null ? [] : [[folder, uid]])))
  }

  /** Forgets what is gone from a folder, up to one of {@link lastGone}, and is of no message here. */
  forgetGone(tx: Tx, folder: number, last: number): void {
    tx.run('DELETE FROM remote_messages WHERE remote_folder = ? AND uid < 0 AND uid >= ? AND message IS NULL', [
      ...[folder, last],
    ])
  }

  /** How many messages are gone from a folder, up to one of {@link lastGone}, at most `limit`. */
  goneUntil(folder: number, last: number, limit: number): number {
    const { count } = this.#db.read.get<{ count: number }>(
      `SELECT count(*) AS count FROM
         (SELECT 1 FROM remote_messages WHERE remote_folder = ? AND uid < 0 AND uid >= ? LIMIT ?)`,
      [folder, last, limit],
    )!
    return count
  }

  /** Messages whose content is missing and is to be asked for. @param now ms */
  missing(folder: number, now: number, limit: number): RemoteMessage[] {
    const rows = this.#db.read.all<MessageRow>(
      `SELECT ${COLUMNS} FROM remote_messages m WHERE m.remote_folder = ? AND m.state <> 0 AND m.state = ${CONTENT.missing} AND m.uid > 0
         AND ${SKIPPED_RETRY_AT} <= ? LIMIT ?`,
      [folder, now, limit],
    )
    return rows.map(present)
  }

  /** Messages that are known by their UIDs only and whose heads are to be asked for. @param now ms */
  headless(folder: number, now: number, limit: number): RemoteMessage[] {
    const rows = this.#db.read.all<MessageRow>(
      `SELECT ${COLUMNS} FROM remote_messages m WHERE m.remote_folder = ? AND m.state <> 0 AND m.state = ${CONTENT.headless}
         AND m.uid > 0 AND ${SKIPPED_RETRY_AT} <= ? LIMIT ?`,
      [folder, now, limit],
    )
    return rows.map(present)
  }

  /** Notes that messages are asked for again. @param now ms */
  countTry(tx: Tx, folder: number, uids: readonly number[], now: number): void {
    tx.run(
      `UPDATE remote_messages SET tries = tries + 1, tried_at = ? WHERE remote_folder = ?
         AND uid IN (SELECT value FROM json_each(?))`,
      [now, folder, JSON.stringify(uids)],
    )
  }

  /** A message was moved to another folder there, under a UID that is not known. */
  expect(tx: Tx, row: RemoteMessage, folder: number): void {
    this.remove(tx, row.folder, [row.uid])
    this.add(tx, [{ ...row, folder, uid: Math.min(this.#lowest(tx, folder), 0) - 1 }])
  }

  #lowest(tx: Tx, folder: number): number {
    const sql = 'SELECT min(uid) AS uid FROM remote_messages WHERE remote_folder = ?'
    return tx.get<{ uid: number | null }>(sql, [folder])?.uid ?? 0
  }

  /**
   * Marks messages with UIDs in the spans as gone from their folder, at most `limit`.
   * @returns how many; fewer than `limit` when none are left
   */
  depart(tx: Tx, folder: number, spans: readonly UidSpan[], limit: number): number {
    const uids = tx.all<{ uid: number }>(
      `SELECT m.uid FROM json_each(?) r CROSS JOIN remote_messages m
       WHERE m.remote_folder = ? AND m.uid > 0 AND m.uid BETWEEN r.value ->> 0 AND r.value ->> 1 LIMIT ?`,
      [JSON.stringify(spans), folder, limit],
    )
    if (uids.length === 0) return 0
    const lowest = this.#lowest(tx, folder)
    // Below all that are gone already: a folder that is numbered again may use a UID twice.
    tx.run(
      'UPDATE remote_messages SET uid = ? - uid WHERE remote_folder = ? AND uid IN (SELECT value FROM json_each(?))',
      [...[Math.min(lowest, 0), folder, JSON.stringify(uids.map(({ uid }) => uid))]],
    )
    return uids.length
  }
}

function present({ flags, keywords, labels, tried_at: triedAt, ...row }: MessageRow): RemoteMessage {
  return {
    ...row,
    marks: unpackMarks(flags, keywords),
    labels: labels === null ? null : (JSON.parse(labels) as string[]),
    triedAt,
  }
}
