// Messages of outside accounts as last seen (the base of the merge): under which UID, which message here, and with which flags.

import type { Db, DbReads, Reader, Row, Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'
import { packMarks, unpackMarks } from '../marks.ts'
import type { Marks } from '../merge.ts'
import type { UidSpan } from '../server.ts'

/** What is known of the content of a message. */
export const CONTENT = { known: 0, missing: 1, unreadable: 2 } as const

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
}

const COLUMNS = `m.remote_folder AS folder, m.uid, m.message, m.flags, m.keywords, m.labels, m.message_key AS key, m.state,
  m.tries, m.tried_at`

export class RemoteMessages {
  readonly #db: DbReads

  constructor(db: Db) {
    this.#db = db
  }

  add(tx: Tx, messages: readonly RemoteMessage[]): void {
    insertMany(
      tx,
      'remote_messages',
      messages.map(({ folder, uid, message, marks, labels, key, state, tries, triedAt }): Row => {
        const { flags, keywords } = packMarks(marks)
        const packed = { flags, keywords, labels: labels && JSON.stringify(labels), message_key: key }
        return { remote_folder: folder, uid, message, ...packed, state, tries, tried_at: triedAt }
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
      return [uid, flags, keywords, labels == null ? null : JSON.stringify(labels)]
    })
    tx.run(
      `UPDATE remote_messages SET flags = j.value ->> 1, keywords = j.value ->> 2, labels = coalesce(j.value ->> 3, labels)
       FROM json_each(?) j WHERE remote_messages.remote_folder = ? AND remote_messages.uid = j.value ->> 0`,
      [JSON.stringify(rows), folder],
    )
  }

  /** What was learnt about the content of messages. */
  setContent(
    tx: Tx,
    folder: number,
    uid: number,
    content: Pick<RemoteMessage, 'message' | 'state' | 'tries' | 'triedAt'>,
  ) {
    const { message, state, tries, triedAt } = content
    tx.run(
      'UPDATE remote_messages SET message = ?, state = ?, tries = ?, tried_at = ? WHERE remote_folder = ? AND uid = ?',
      [...[message, state, tries, triedAt, folder, uid]],
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

  /** Messages with UIDs in the spans, ascending, at most `limit`. */
  in(folder: number, spans: readonly UidSpan[], limit: number, reader: Reader = this.#db.read): RemoteMessage[] {
    const rows = reader.all<MessageRow>(
      `SELECT ${COLUMNS} FROM json_each(?) r CROSS JOIN remote_messages m
       WHERE m.remote_folder = ? AND m.uid BETWEEN r.value ->> 0 AND r.value ->> 1 LIMIT ?`,
      [JSON.stringify(spans), folder, limit],
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

  /** Messages whose content is missing and was not asked for since a time (ms). */
  missing(folder: number, before: number, limit: number): RemoteMessage[] {
    const rows = this.#db.read.all<MessageRow>(
      `SELECT ${COLUMNS} FROM remote_messages m WHERE m.remote_folder = ? AND m.state = ${CONTENT.missing} AND m.uid > 0
         AND coalesce(m.tried_at, 0) <= ? LIMIT ?`,
      [folder, before, limit],
    )
    return rows.map(present)
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
    const lowest = tx.get<{ uid: number }>('SELECT min(uid) AS uid FROM remote_messages WHERE remote_folder = ?', [
      folder,
    ])
    // Below all that are gone already: a folder that is numbered again may use a UID twice.
    tx.run(
      'UPDATE remote_messages SET uid = ? - uid WHERE remote_folder = ? AND uid IN (SELECT value FROM json_each(?))',
      [...[Math.min(lowest?.uid ?? 0, 0), folder, JSON.stringify(uids.map(({ uid }) => uid))]],
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
