// The threads that read what may be long, and bring the log of writes home into its file.

import { Piscina } from 'piscina'
import { sqlValue } from './dialect.ts'
import type { ScanTask } from './scan-thread.ts'
import type { Reader, SqlValue } from './sql.ts'

const IDLE_MS = 10_000

export class DbThreads {
  readonly #pool: Piscina
  /** Of its own: writing waits for the log at times, and must not stand in line behind long reads. */
  readonly #home = openPool(1)

  /** @param most threads that read at a time; there is none while there is nothing to do */
  constructor(most: number) {
    this.#pool = openPool(most)
  }

  /** Reads of one file. */
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

  /** Copies the log of a file into it as far as nobody still reads what was before. */
  async bringHome(file: string): Promise<void> {
    await this.#home.run({ file, sql: 'PRAGMA wal_checkpoint(PASSIVE)', values: [] } satisfies ScanTask)
  }

  /** Waits for what is under way, then ends the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#home.close()])
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
