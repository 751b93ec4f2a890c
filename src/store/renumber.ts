// Keeps numbers that clients have seen from being given a second time, after a power cut and after a restore.

import type { Tx } from '../db/db.ts'
import { restartStates, skipNumbers } from './accounts.ts'
import { raiseFloors } from './changes-history.ts'
import { renewUidValidity, skipUids } from './folders-numbers.ts'

/** More than an appliance commits between two flushes. */
export const SKIPPED_AFTER_CRASH = 4096
/** More than a mailbox changes between two backups. */
export const SKIPPED_AFTER_RESTORE = 1_000_000
/** Numbers more for each second: the same backup restored again begins behind what was given after the first time. */
const SKIPPED_EACH_SECOND = 10_000

/** After an end that was not orderly: what was committed and not flushed may be gone, its numbers may be known. */
export async function renumberAfterCrash(tx: Tx): Promise<void> {
  await skipNumbers(tx, SKIPPED_AFTER_CRASH)
  await skipUids(tx, SKIPPED_AFTER_CRASH)
}

/** In a database that was taken from a backup: clients know numbers from after it. @param now ms */
export async function renumberAfterRestore(tx: Tx, now: number): Promise<void> {
  await raiseFloors(tx, await restartStates(tx, SKIPPED_AFTER_RESTORE + Math.floor((now / 1000) * SKIPPED_EACH_SECOND)))
  await renewUidValidity(tx, now)
}
