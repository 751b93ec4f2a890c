// How long the content of a sent mail is needed: until no delivery is open and nobody has to be told of one that failed.

import type { Tx } from '../../db/db.ts'

/** Counts what still needs the content of a mail; at 0 the content is let go. */
export async function countOpen(tx: Tx, emailN: number, change: number): Promise<void> {
  await tx.run(
    `UPDATE emails SET open_deliveries = open_deliveries + ?,
       blob = CASE WHEN open_deliveries + ? > 0 THEN blob ELSE NULL END
     WHERE n = ?`,
    [change, change, emailN],
  )
}
