// Skips sequence numbers and UIDs after a crash or a restore, so that numbers clients have seen are not assigned again.

import type { Tx } from '../../db/db.ts'
import { restartStates, skipNumbers } from './accounts.ts'
import { skipUidValidity } from './accounts-numbers.ts'
import { raiseFloors } from './changes-history.ts'
import { renewUidValidity, skipUids } from './folders-renumber.ts'

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
