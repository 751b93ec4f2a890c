// Numbers the messages of a folder again in the order of their receipt: an import has stored the newest first.

import type { Db } from '../../db/db.ts'
import { reserveUidValidity, seqOf } from './accounts-numbers.ts'
import { forgetExpunged } from './folders-expunged.ts'
import type { Account } from './records.ts'

/** Entries in one unit of work. */
const ENTRIES_PER_BATCH = 250

/**
 * Gives a folder a new UIDVALIDITY and its messages new UIDs above all that were assigned before, oldest first (RFC 9051 §2.3.1.1). No
 * mail program may use the folder meanwhile. When it is interrupted it is to be done again from the start.
 * @param now ms
 */
export async function sortByReceipt(
  db: Pick<Db, 'write'>,
  account: Pick<Account, 'n'>,
  folder: number,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<void> {
  const end = await db.write((tx) => {
    const validity = reserveUidValidity(tx, account.n, 1, now)
    forgetExpunged(tx, [folder])
    const row = tx.get<{ next: number }>(
      `UPDATE folders SET uid_validity = ?, mod_seq = max(mod_seq, (${seqOf('folders.account')})) WHERE n = ?
       RETURNING uid_next AS next`,
      [validity, folder],
    )
    return row?.next ?? 0
  })
  let [after, isDone] = [{ receivedAt: Number.MIN_SAFE_INTEGER, message: 0 }, false]
  while (!isDone && !signal.aborted) {
    after = await db.write((tx) => {
      tx.assignsNumbersOf(account.n)
      // The entries before `after` have their new UIDs: passing them again and again would take most of the time.
      const rows = tx.all<{ uid: number; receivedAt: number; message: number }>(
        `SELECT uid, received_at AS receivedAt, message FROM message_folders
         WHERE folder = ? AND (received_at, message) > (?, ?) AND uid < ? ORDER BY received_at, message LIMIT ?`,
        [folder, after.receivedAt, after.message, end, ENTRIES_PER_BATCH],
      )
      const { next } = tx.get<{ next: number }>(
        'UPDATE folders SET uid_next = uid_next + ?, recent_from = uid_next + ? WHERE n = ? RETURNING uid_next AS next',
        [rows.length, rows.length, folder],
      ) ?? { next: 0 }
      const first = next - rows.length
      const moves = rows.map(({ uid }, index) => [folder, uid, first + index])
      // With the folder as a parameter, SQLite would read the whole folder for each entry.
      tx.run(
        `UPDATE message_folders SET uid = j.value ->> 2 FROM json_each(?) j
         WHERE message_folders.folder = j.value ->> 0 AND message_folders.uid = j.value ->> 1`,
        [JSON.stringify(moves)],
      )
      isDone = rows.length < ENTRIES_PER_BATCH
      return rows.at(-1) ?? after
    })
  }
}
