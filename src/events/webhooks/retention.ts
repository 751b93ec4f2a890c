// Forgets what happened once everybody has been told and nobody may ask for it again.

import type { Db } from '../../db/db.ts'

const PRUNE_BATCH = 1000

/**
 * Erases events older than `before` (ms) that wait for nobody, some at a time, so that other writes get their turn.
 * @returns how many
 */
export async function pruneEvents(db: Db, before: number): Promise<number> {
  let erased = 0
  for (;;) {
    const { changes } = await db.write((tx) =>
      tx.run(
        `DELETE FROM events WHERE n IN
           (SELECT n FROM events WHERE created_at < ? AND told = 1
              AND NOT EXISTS (SELECT 1 FROM webhook_queue q WHERE q.event = events.n)
            ORDER BY created_at LIMIT ?)`,
        [before, PRUNE_BATCH],
      ),
    )
    erased += changes
    if (changes < PRUNE_BATCH) return erased
  }
}
