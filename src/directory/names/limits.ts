// Persisted rate-limit counters, so that limits survive a restart.

import type { Db } from '../../db/db.ts'

/** The requests of one subject within one window. */
export interface RateCount {
  /** The id of a key, or the IP address of a client without one. */
  subject: string
  /** Start of the window, ms. */
  windowStart: number
  count: number
}

// SQLite takes 32,766 values in a statement; a hundred rows keep the text of the statement short.
const ROWS_PER_STATEMENT = 100

export class Limits {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** The counts of one window. */
  load(windowStart: number): RateCount[] {
    return this.#db.read.all<RateCount>(
      'SELECT subject, window_start AS windowStart, count FROM rate_counts WHERE window_start = ?',
      [windowStart],
    )
  }

  /** Upserts counts by subject, and deletes the windows before `windowStart`. */
  async save(counts: readonly RateCount[], windowStart: number): Promise<void> {
    await this.#db.write((tx) => {
      tx.run('DELETE FROM rate_counts WHERE window_start < ?', [windowStart])
      for (let from = 0; from < counts.length; from += ROWS_PER_STATEMENT) {
        const rows = counts.slice(from, from + ROWS_PER_STATEMENT)
        tx.run(
          `INSERT INTO rate_counts (subject, window_start, count) VALUES ${rows.map(() => '(?, ?, ?)').join(', ')}
           ON CONFLICT (subject) DO UPDATE SET window_start = excluded.window_start, count = excluded.count`,
          rows.flatMap((row) => [row.subject, row.windowStart, row.count]),
        )
      }
    })
  }
}
