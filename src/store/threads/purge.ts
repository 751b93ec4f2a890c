// The end of threads together with their mailbox.

import type { Tx } from '../../db/db.ts'
import { unfileThreads } from '../folders-filing.ts'
import type { Account } from '../records.ts'

/** Erases the next threads of an account, whose messages are gone. See `PurgePart`. */
export async function purgeThreads(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
  const rows = await tx.all<{ n: number }>('SELECT n FROM threads WHERE account = ? LIMIT ?', [account.n, limit])
  if (rows.length === 0) return 0
  const ns = rows.map(({ n }) => n)
  await unfileThreads(tx, ns)
  await tx.run(`DELETE FROM threads WHERE n IN (${ns.map(() => '?').join(', ')})`, ns)
  return ns.length
}

/** Forgets the next ids the threads of an account are known by. See `PurgePart`. */
export async function purgeReferences(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
  const { changes } = await tx.run(
    `DELETE FROM thread_refs WHERE (account, ref, thread) IN
       (SELECT account, ref, thread FROM thread_refs WHERE account = ? LIMIT ?)`,
    [account.n, limit],
  )
  return changes
}
