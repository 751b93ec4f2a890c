// Skips sequence numbers and UIDs after a crash or a restore, so that numbers clients have seen are not assigned again.

import type { Tx } from '../../db/db.ts'
import { restartStates, skipNumbers } from './accounts.ts'
import { lastUidValidity, raiseUidValidity, seqOf, skipUidValidity } from './accounts-numbers.ts'
import { raiseFloors } from './changes-history.ts'

/** More than is committed between two flushes to disk. */
export const SKIPPED_AFTER_CRASH = 4096
/** More than a mailbox changes between two backups. */
export const SKIPPED_AFTER_RESTORE = 1_000_000
/** Additional numbers per second of the clock: restoring the same backup again starts above the numbers assigned after the first restore. */
const SKIPPED_EACH_SECOND = 10_000

/** After an unclean shutdown: commits that were not flushed may be lost while clients know their numbers. @param now ms */
export function renumberAfterCrash(tx: Tx, now: number): void {
  skipNumbers(tx, SKIPPED_AFTER_CRASH)
  skipUids(tx, SKIPPED_AFTER_CRASH, now)
  skipUidValidity(tx, SKIPPED_AFTER_CRASH, now)
}

/** After a restore: clients know numbers assigned after the backup. @param now ms */
export function renumberAfterRestore(tx: Tx, now: number): void {
  raiseFloors(tx, restartStates(tx, SKIPPED_AFTER_RESTORE + Math.floor((now / 1000) * SKIPPED_EACH_SECOND)))
  renewUidValidity(tx, now)
}

/**
 * Skips UIDs in all folders: they may have been assigned by commits that were lost (RFC 9051 §2.3.1.1). Mail programs that know them
 * learn that they are gone, under the sequence numbers the accounts have now.
 */
export function skipUids(tx: Tx, count: number, now: number): void {
  tx.assignsNumbersOf('all')
  tx.run(`UPDATE folders SET uid_next = uid_next + ?, mod_seq = max(mod_seq, (${seqOf('folders.account')}))`, [count])
  tx.run(
    `INSERT INTO expunged_uids (folder, seq, first, last, at) SELECT n, mod_seq, uid_next - ?, uid_next - 1, ? FROM folders
     WHERE true ON CONFLICT DO UPDATE SET last = max(last, excluded.last)`,
    [count, now],
  )
}

/**
 * Gives every folder a new UIDVALIDITY, which invalidates what clients have cached: one of its own in its account. It increases even if
 * the clock was set back.
 * @param now ms
 */
function renewUidValidity(tx: Tx, now: number): void {
  const first = Math.max(Math.floor(now / 1000), lastUidValidity(tx) + 1)
  const renewed = tx.all<{ value: number }>(
    `UPDATE folders SET uid_validity = ? + own.rank, mod_seq = max(mod_seq, (${seqOf('folders.account')}))
     FROM (SELECT n, row_number() OVER (PARTITION BY account ORDER BY n) - 1 AS rank FROM folders) AS own
     WHERE own.n = folders.n RETURNING uid_validity AS value`,
    [first],
  )
  raiseUidValidity(
    tx,
    renewed.reduce((last, { value }) => Math.max(last, value), first),
  )
}
