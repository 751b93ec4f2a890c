// Deletes dispatched events after their retention.

import type { WrongSpan } from '../../base/clock-guard.ts'
import type { Db } from '../../db/db.ts'
import { redateRows } from '../../db/redate.ts'

const PRUNE_BATCH = 1000

/**
 * Deletes events older than `before` (ms) without pending deliveries, in batches, so that other writes are not blocked.
 * @returns how many
 */
export async function pruneEvents(db: Db, before: number): Promise<number> {
  let deleted = 0
  for (;;) {
    const { changes } = await db.write((tx) =>
      tx.run(
        `DELETE FROM events WHERE n IN
           (SELECT n FROM events WHERE created_at < ? AND dispatched = 1
              AND NOT EXISTS (SELECT 1 FROM webhook_queue q WHERE q.event = events.n)
            ORDER BY created_at LIMIT ?)`,
        [before, PRUNE_BATCH],
      ),
    )
    deleted += changes
    if (changes < PRUNE_BATCH) return deleted
  }
}

/** Dates events of a wrong clock as of now (ms): they are kept as long as others. */
export function redateEvents(db: Db, wrong: WrongSpan, now: number): Promise<number> {
  return redateRows(db, { table: 'events', column: 'created_at' }, wrong, now)
}
