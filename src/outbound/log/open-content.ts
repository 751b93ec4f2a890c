// How long the content of a sent message is needed: until no delivery is pending and no DSN is due.

import type { Tx } from '../../db/db.ts'
import { inPieces } from '../../db/many-rows.ts'

/** Changes the number of deliveries that need the content of a message; at 0 the content is released. */
export function countOpen(tx: Tx, emailN: number, change: number): void {
  countOpenOf(tx, new Map([[emailN, change]]))
}

/** The same for several messages. @param changes by key of the message */
export function countOpenOf(tx: Tx, changes: ReadonlyMap<number, number>): void {
  inPieces([...changes], (marks, values) =>
    tx.run(
      `WITH change (email, by) AS (VALUES ${marks})
       UPDATE emails SET open_deliveries = open_deliveries + by,
         blob = CASE WHEN open_deliveries + by > 0 THEN blob ELSE NULL END
       FROM change WHERE emails.n = change.email`,
      values,
    ),
  )
}
