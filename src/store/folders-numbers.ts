// UIDs and UIDVALIDITY of folders (RFC 9051 §2.3.1.1) after numbers may have been lost.

import type { Tx } from '../db/db.ts'

/** Skips UIDs of every folder: those may have been given and lost. */
export async function skipUids(tx: Tx, count: number): Promise<void> {
  await tx.run('UPDATE folders SET uid_next = uid_next + ?', [count])
}

/**
 * Gives every folder a new UIDVALIDITY: what a client has cached under the former one is void. It grows, whatever the clock says.
 * @param now ms
 */
export async function renewUidValidity(tx: Tx, now: number): Promise<void> {
  const row = await tx.get<{ last: number | null }>('SELECT max(uid_validity) AS last FROM folders')
  await tx.run('UPDATE folders SET uid_validity = ?', [Math.max(Math.floor(now / 1000), (row?.last ?? 0) + 1)])
}
