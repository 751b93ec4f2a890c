// Worker threads for scans and for checkpoints of the write-ahead log.

import { entryFile } from '../base/entry.ts'
import { ThreadPool } from '../base/thread-pool.ts'
import { sqlValue } from './connection.ts'
import type { ScanTask } from './scan-thread.ts'
import type { ScanReader, SqlValue } from './sql.ts'

const IDLE_MS = 10_000

/** What the pragma returns: https://sqlite.org/pragma.html#pragma_wal_checkpoint */
interface Checkpointed {
  busy: number
  log: number
  checkpointed: number
}

export class DbThreads {
  readonly #pool: ThreadPool<ScanTask, unknown>
  /** A separate thread for checkpoints: writers may wait for them, and must not wait for long reads. */
  readonly #checkpointer = openPool(1)

  /** @param most maximum number of reading threads; idle threads end */
  constructor(most: number) {
    this.#pool = openPool(most)
  }

  /** A reader of one file. */
  reader(file: string): ScanReader {
    const task = <R>(one: ScanTask) =>
      this.#pool.run<R>(one).catch((error: Error) => {
        throw typeof error.cause === 'number' ? Object.assign(error, { errcode: error.cause }) : error
      })
    const run = <R>(sql: string, values: readonly SqlValue[] = []) =>
      task<R[]>({ file, sql, values: values.map(sqlValue) })
    return {
      all: run,
      async get<R>(sql: string, values?: readonly SqlValue[]) {
        return (await run<R>(sql, values))[0]
      },
      columns: (sql, values = []) => task({ file, sql, values: values.map(sqlValue), asColumns: true }),
    }
  }

  /**
   * Copies the write-ahead log of a file into it, as far as no reader needs an older snapshot.
   * @returns pages that are left; Infinity while another thread or process does the same
   */
  async checkpoint(file: string): Promise<number> {
    const task: ScanTask = { file, sql: 'PRAGMA wal_checkpoint(PASSIVE)', values: [] }
    const [{ busy, log, checkpointed }] = await this.#checkpointer.run<[Checkpointed]>(task)
    return busy === 1 ? Infinity : log - checkpointed
  }

  /** Waits for running tasks, then ends the threads. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.finish(), this.#checkpointer.finish()])
  }
}

function openPool(threads: number): ThreadPool<ScanTask, unknown> {
  return new ThreadPool({ file: entryFile(new URL('./scan-thread.ts', import.meta.url)), threads, idleMs: IDLE_MS })
}
