// Skips UIDs of all folders, or makes them invalid: they may have been assigned by commits that were lost.

import type { Tx } from '../../db/db.ts'
import { lastUidValidity, raiseUidValidity, seqOf } from './accounts-numbers.ts'

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
export function renewUidValidity(tx: Tx, now: number): void {
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
