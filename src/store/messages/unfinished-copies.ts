// The journal of copies by UID: which UIDs each has added so far, until it ends.

import type { Reader, Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'
import { rangesOf, type UidRange } from '../rows/folders-expunged.ts'

/** UIDs that one unit of work of a copy added to a folder. */
export interface CopiedRange extends UidRange {
  /** Number of the row. */
  n: number
  account: number
  folder: number
  /** The entries are second messages over the same content, which belong to the copy alone. */
  erases: boolean
}

/** Records what a unit of work of a copy has added, as part of it. @param copy distinguishes copies */
export function recordCopied(
  tx: Tx,
  copy: string,
  { account, folder, erases }: Pick<CopiedRange, 'account' | 'folder' | 'erases'>,
  uids: readonly number[],
): void {
  insertMany(
    tx,
    'unfinished_copies',
    rangesOf(uids).map(({ first, last }) => ({ copy, account, folder, first, last, erases })),
  )
}

/** The copy has ended: all that it added stays. */
export function endCopy(tx: Tx, copy: string): void {
  tx.run('DELETE FROM unfinished_copies WHERE copy = ?', [copy])
}

/** Copies that have not ended, the oldest first. */
export function unfinishedCopies(reader: Reader): string[] {
  const rows = reader.all<{ copy: string }>('SELECT copy FROM unfinished_copies GROUP BY copy ORDER BY min(n)')
  return rows.map(({ copy }) => copy)
}

/** What a copy has added so far, the last first. */
export function copiedRanges(reader: Reader, copy: string): CopiedRange[] {
  const rows = reader.all<Omit<CopiedRange, 'erases'> & { erases: number }>(
    'SELECT n, account, folder, first, last, erases FROM unfinished_copies WHERE copy = ? ORDER BY n DESC',
    [copy],
  )
  return rows.map(({ erases, ...row }) => ({ ...row, erases: erases === 1 }))
}

/** A range was taken back. */
export function forgetCopied(tx: Tx, { n }: Pick<CopiedRange, 'n'>): void {
  tx.run('DELETE FROM unfinished_copies WHERE n = ?', [n])
}

/** Forgets the copies of a deleted account. @returns how many ranges. See `PurgeStep`. */
export function purgeCopies(tx: Tx, account: { n: number }): number {
  return tx.run('DELETE FROM unfinished_copies WHERE account = ?', [account.n]).changes
}
