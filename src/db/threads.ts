// Worker threads for scans and for checkpoints of the write-ahead log.

import { Piscina } from 'piscina'
import { sqlValue } from './dialect.ts'
import type { ScanTask } from './scan-thread.ts'
import type { Reader, SqlValue } from './sql.ts'

const IDLE_MS = 10_000

export class DbThreads {
  readonly #pool: Piscina
  /** A separate thread for checkpoints: writers may wait for them, and must not wait for long reads. */
  readonly #checkpointer = openPool(1)

  /** @param most maximum number of reading threads; idle threads end */
  constructor(most: number) {
    this.#pool = openPool(most)
  }

  /** A reader of one file. */
  reader(file: string): Reader {
    const run = (sql: string, values: readonly SqlValue[] = []) =>
      this.#pool.run({ file, sql, values: values.map(sqlValue) } satisfies ScanTask)
    return {
      all: run,
      async get(sql, values) {
        return (await run(sql, values))[0]
      },
    }
  }

  /** Copies the write-ahead log of a file into it, as far as no reader needs an older snapshot. */
  async checkpoint(file: string): Promise<void> {
    await this.#checkpointer.run({ file, sql: 'PRAGMA wal_checkpoint(PASSIVE)', values: [] } satisfies ScanTask)
  }

  /** Waits for running tasks, then ends the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#checkpointer.close()])
  }
}

function openPool(most: number): Piscina {
  return new Piscina({
    filename: new URL('./scan-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: most,
    idleTimeout: IDLE_MS,
  })
}
