// How long the content of a sent message is needed: until no delivery is pending and no DSN is due.

import type { Tx } from '../../db/db.ts'

/** Changes the number of deliveries that need the content of a message; at 0 the content is released. */
export async function countOpen(tx: Tx, emailN: number, change: number): Promise<void> {
  await tx.run(
    `UPDATE emails SET open_deliveries = open_deliveries + ?,
       blob = CASE WHEN open_deliveries + ? > 0 THEN blob ELSE NULL END
     WHERE n = ?`,
    [change, change, emailN],
  )
}
