// Messages of outside accounts that were deleted here: to be removed from their folders there, or fetched again when that is taken back.

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Db, DbReads, Reader, Tx } from '../../db/db.ts'
import { CONTENT } from './content-state.ts'

/** Attempts after which an erased message is tried once a day at a server that refuses to remove it, and the pause after the first, ms. */
const ERASE_TRIES_MAX = 6
const ERASE_RETRY_MS = MINUTE_MS
/** Erased messages. The first term lets the partial index be used. */
const ANY_ERASED = `m.state <> 0 AND m.state = ${CONTENT.erased} AND m.uid > 0`
/** ... that the server has not refused to remove so often. */
const ERASED = `${ANY_ERASED} AND m.tries < ${ERASE_TRIES_MAX}`
/** When it is tried again, ms. */
const ERASE_AT = `m.tried_at + iif(m.tries < ${ERASE_TRIES_MAX}, ${ERASE_RETRY_MS} << (m.tries - 1), ${DAY_MS})`

export class ErasedMessages {
  readonly #db: DbReads

  constructor(db: Db) {
    this.#db = db
  }

  /** Notes that messages were deleted here and are to be removed from a folder there. */
  add(tx: Tx, folder: number, uids: readonly number[]): void {
    tx.run(
      `UPDATE remote_messages SET state = ${CONTENT.erased}, message = NULL, tries = 0, tried_at = NULL, skip_reason = NULL
       WHERE remote_folder = ? AND uid IN (SELECT value FROM json_each(?))`,
      [folder, JSON.stringify(uids)],
    )
  }

  /** Messages of a folder that were deleted here are to be fetched again, at most `limit`. @returns how many */
  restore(tx: Tx, folder: number, limit: number): number {
    const { changes } = tx.run(
      `UPDATE remote_messages SET state = ${CONTENT.restoring}, tries = 0, tried_at = NULL WHERE (remote_folder, uid) IN
         (SELECT remote_folder, uid FROM remote_messages
          WHERE remote_folder = ? AND state <> 0 AND state = ${CONTENT.erased} AND uid > 0 LIMIT ?)`,
      [folder, limit],
    )
    return changes
  }

  /** UIDs of messages of a folder that are to be fetched again, ascending. */
  restoring(folder: number, after: number, limit: number): number[] {
    const rows = this.#db.read.all<{ uid: number }>(
      `SELECT uid FROM remote_messages WHERE remote_folder = ? AND state <> 0 AND state = ${CONTENT.restoring} AND uid > ?
       ORDER BY uid LIMIT ?`,
      [folder, after, limit],
    )
    return rows.map(({ uid }) => uid)
  }

  /** How many messages of each folder of an account are to be removed, by its number. */
  counts(remote: number, reader: Reader = this.#db.read): Map<number, number> {
    const rows = reader.all<{ folder: number; count: number }>(
      `SELECT f.n AS folder, count(*) AS count FROM remote_folders f CROSS JOIN remote_messages m
       WHERE f.remote = ? AND m.remote_folder = f.n AND ${ERASED} GROUP BY f.n`,
      [remote],
    )
    return new Map(rows.map(({ folder, count }) => [folder, count]))
  }

  /** Messages that were deleted here, and that the server has not removed. */
  countRefused(remote: number, reader: Reader): number {
    const { count } = reader.get<{ count: number }>(
      `SELECT count(*) AS count FROM remote_folders f CROSS JOIN remote_messages m
       WHERE f.remote = ? AND m.remote_folder = f.n AND ${ANY_ERASED} AND m.tries > 0`,
      [remote],
    )!
    return count
  }

  /** Numbers of the folders of an account from which messages are to be removed now that the server has refused to remove often. @param now ms */
  foldersDue(remote: number, now: number): number[] {
    const rows = this.#db.read.all<{ n: number }>(
      `SELECT DISTINCT f.n AS n FROM remote_folders f CROSS JOIN remote_messages m
       WHERE f.remote = ? AND m.remote_folder = f.n AND ${ANY_ERASED} AND m.tries >= ${ERASE_TRIES_MAX} AND ${ERASE_AT} <= ?`,
      [remote, now],
    )
    return rows.map(({ n }) => n)
  }

  /** UIDs of messages that are to be removed from a folder now, ascending. @param now ms */
  due(folder: number, after: number, now: number, limit: number): number[] {
    const rows = this.#db.read.all<{ uid: number }>(
      `SELECT m.uid FROM remote_messages m WHERE m.remote_folder = ? AND ${ANY_ERASED} AND m.uid > ?
         AND (m.tried_at IS NULL OR ${ERASE_AT} <= ?) ORDER BY m.uid LIMIT ?`,
      [folder, after, now, limit],
    )
    return rows.map(({ uid }) => uid)
  }

  /** Notes that a server has not removed messages. @param now ms */
  noteRefusal(tx: Tx, folder: number, uids: readonly number[], now: number): void {
    tx.run(
      `UPDATE remote_messages SET tries = tries + 1, tried_at = ? WHERE remote_folder = ? AND state = ${CONTENT.erased}
         AND uid IN (SELECT value FROM json_each(?))`,
      [now, folder, JSON.stringify(uids)],
    )
  }

  /** Whether messages of a folder are to be removed, or could not be. */
  isIn(folder: number): boolean {
    const sql = `SELECT 1 FROM remote_messages m WHERE m.remote_folder = ? AND m.state <> 0 AND m.state = ${CONTENT.erased} LIMIT 1`
    return this.#db.read.get(sql, [folder]) !== undefined
  }
}
