// The objects that caches of an account have to read again: what the ledger records after a sequence number.

import type { Reader } from '../../db/db.ts'
import { floorOf } from './changes-history.ts'
import type { ChangeType } from './records.ts'

interface LedgerRow {
  type: ChangeType
  n: number
  seq: number
  /** Sequence number of the last change of more than counts. */
  altered: number
}

/** A point up to which everything is known, and the sequence number of each type as the account's row has it. */
export interface LedgerRange {
  since: number
  newest: Partial<Record<ChangeType, number>>
}

/**
 * The objects of the types in `newest` that were changed after `since`.
 * @returns null when the ledger does not have all of them: there are more than `max`, some are pruned, or a type was advanced without rows
 */
export function objectsChangedSince(
  reader: Reader,
  account: number,
  { since, newest }: LedgerRange,
  max: number,
): LedgerRow[] | null {
  const rows: LedgerRow[] = []
  for (const [type, last] of Object.entries(newest) as [ChangeType, number][]) {
    if (last <= since) continue
    const found = reader.all<LedgerRow>(
      `SELECT type, n, changed_seq AS seq, coalesce(altered_seq, changed_seq) AS altered FROM changes
       WHERE account = ? AND type = ? AND changed_seq > ? ORDER BY changed_seq LIMIT ?`,
      [account, type, since, max + 1],
    )
    const isComplete =
      found.length <= max && (found.at(-1)?.seq ?? 0) >= last && floorOf(reader, account, type) <= since
    if (!isComplete) return null
    rows.push(...found)
  }
  return rows
}
