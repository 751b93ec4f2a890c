// Numbers the messages of a folder again in the order of their receipt: an import has stored the newest first.

import type { Db } from '../db/db.ts'
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
  db: Db,
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
  for (let more = true; more && !signal.aborted; ) {
    more = await db.write((tx) => {
      const rows = tx.all<{ uid: number }>(
        'SELECT uid FROM message_folders WHERE folder = ? AND uid < ? ORDER BY received_at, message LIMIT ?',
        [folder, end, ENTRIES_PER_BATCH],
      )
      const { next } = tx.get<{ next: number }>(
        'UPDATE folders SET uid_next = uid_next + ?, recent_from = uid_next + ? WHERE n = ? RETURNING uid_next AS next',
        [rows.length, rows.length, folder],
      ) ?? { next: 0 }
      const first = next - rows.length
      const pairs = rows.map(({ uid }, index) => [uid, first + index])
      tx.run(
        `UPDATE message_folders SET uid = j.value ->> 1 FROM json_each(?) j
         WHERE message_folders.folder = ? AND message_folders.uid = j.value ->> 0`,
        [JSON.stringify(pairs), folder],
      )
      return rows.length === ENTRIES_PER_BATCH
    })
  }
}
