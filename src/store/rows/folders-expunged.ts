// UIDs that left a folder, kept as ranges, so that mail programs learn what is gone (RFC 7162 §3.2.6).

import type { Reader, SqlValue, Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'

/** An entry that was removed from a folder. */
export interface RemovedEntry {
  folder: number
  uid: number
}

/** Both ends inclusive. */
export interface UidRange {
  first: number
  last: number
}

/** Merges UIDs into ranges, ascending. */
export function rangesOf(uids: readonly number[]): UidRange[] {
  return mergeRanges(uids.toSorted((a, b) => a - b).map((uid) => ({ first: uid, last: uid })))
}

/** Records what one unit of work removed from folders, under its sequence number. @param now ms */
export function recordExpunged(tx: Tx, seq: number, removed: readonly RemovedEntry[], now: number): void {
  if (removed.length === 0) return
  const byFolder = Map.groupBy(removed, ({ folder }) => folder)
  const rows = [...byFolder].flatMap(([folder, entries]) =>
    rangesOf(entries.map(({ uid }) => uid)).map((range) => ({ folder, seq, ...range, at: now })),
  )
  insertMany(tx, 'expunged_uids', rows)
}

/** More ranges are not read: on the first thread they would take longer than a pass over the folder in the scan thread. */
export const EXPUNGED_RANGES_MAX = 20_000

/**
 * The UIDs that left a folder after a modification number, in ascending ranges.
 * @returns null when not all of them are kept, or they are too many: every UID below `uidNext` that is not in the folder counts as gone
 */
export function expungedSince(reader: Reader, folder: number, modSeq: number): UidRange[] | null {
  const floor = reader.get<{ seq: number }>('SELECT seq FROM expunged_floors WHERE folder = ?', [folder])
  if (floor !== undefined && modSeq < floor.seq) return null
  const beyond = reader.get('SELECT 1 FROM expunged_uids WHERE folder = ? AND seq > ? LIMIT 1 OFFSET ?', [
    ...[folder, modSeq, EXPUNGED_RANGES_MAX],
  ])
  if (beyond !== undefined) return null
  const rows = reader.all<UidRange>(
    'SELECT first, last FROM expunged_uids WHERE folder = ? AND seq > ? ORDER BY first',
    [folder, modSeq],
  )
  return mergeRanges(rows)
}

function mergeRanges(sorted: readonly UidRange[]): UidRange[] {
  const merged: UidRange[] = []
  for (const { first, last } of sorted) {
    const before = merged.at(-1)
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last)
    else merged.push({ first, last })
  }
  return merged
}

/** Deletes what is kept about folders that are deleted. */
export function forgetExpunged(tx: Tx, folders: readonly number[]): void {
  const list = [JSON.stringify(folders)]
  tx.run('DELETE FROM expunged_uids WHERE folder IN (SELECT value FROM json_each(?))', list)
  tx.run('DELETE FROM expunged_floors WHERE folder IN (SELECT value FROM json_each(?))', list)
}

/**
 * Deletes a batch of ranges recorded before a time (ms), oldest first, and raises the floors of their folders.
 * @returns how many; fewer than the batch when none are left
 */
export function pruneExpunged(tx: Tx, before: number, limit: number): number {
  const rows = tx.all<{ folder: number; seq: number; first: number }>(
    'SELECT folder, seq, first FROM expunged_uids WHERE at < ? ORDER BY at LIMIT ?',
    [before, limit],
  )
  if (rows.length === 0) return 0
  const keys: SqlValue[] = [JSON.stringify(rows.map(({ folder, seq, first }) => [folder, seq, first]))]
  tx.run(
    `INSERT INTO expunged_floors (folder, seq)
       SELECT value ->> 0, max(value ->> 1) FROM json_each(?) WHERE true GROUP BY value ->> 0
     ON CONFLICT (folder) DO UPDATE SET seq = max(seq, excluded.seq)`,
    keys,
  )
  tx.run(
    `DELETE FROM expunged_uids WHERE (folder, seq, first) IN
       (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))`,
    keys,
  )
  return rows.length
}
