// The write-ahead log of a database: flushes commits and checkpoints the log without blocking the thread.

import { close, fdatasync, open } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const openFile = promisify(open)
const closeFile = promisify(close)

// Size of the log from which it is checkpointed: large enough to write a page once for many changes of it.
const LONG_BYTES = 16 * 1024 * 1024
// Estimate for a statement without large values: the pages of its table and indexes.
const STATEMENT_BYTES = 4096

/**
 * SQLite itself would flush the log inside COMMIT (`synchronous = FULL`) and checkpoint it every thousand pages, and the
 * whole thread would be blocked meanwhile. Here COMMIT only writes the log (`NORMAL`), and callers get their result after
 * {@link flush}, so that a result still means that the data is durable.
 */
export class WriteLog {
  readonly #file: string
  readonly #checkpoint: (() => Promise<void>) | undefined
  #descriptor: number | undefined
  #bytes = 0
  #running: Promise<void> | undefined
  #needsPause = false

  /** @param checkpoint checkpoints the log, in another thread; without it, SQLite does so by itself */
  constructor(file: string, checkpoint?: () => Promise<void>) {
    this.#file = file
    this.#checkpoint = checkpoint
  }

  /** Adds an estimate of what a statement writes to the log. */
  note(valueBytes: number): void {
    this.#bytes += STATEMENT_BYTES + valueBytes
  }

  /** Resolves when everything committed before the call is durable. */
  async flush(): Promise<void> {
    this.#descriptor ??= await this.#open()
    const descriptor = this.#descriptor
    await new Promise<void>((resolve, reject) => {
      fdatasync(descriptor, (error) => (error ? reject(error) : resolve()))
    })
  }

  /**
   * Called between two transactions. A long log is first checkpointed while writing continues; what was written meanwhile is
   * little, and writing pauses for a second checkpoint, because SQLite restarts the log only when all of it was copied.
   */
  async tend(): Promise<void> {
    if (this.#checkpoint === undefined || this.#running !== undefined) return
    if (this.#needsPause) {
      this.#needsPause = false
      await this.#runCheckpoint()
      this.#bytes = 0
    } else if (this.#bytes > LONG_BYTES) {
      void this.#runCheckpoint().then(() => {
        this.#needsPause = true
      })
    }
  }

  async close(): Promise<void> {
    await this.#running
    if (this.#descriptor !== undefined) await closeFile(this.#descriptor)
    this.#descriptor = undefined
  }

  #runCheckpoint(): Promise<void> {
    // A failed checkpoint (disk full) loses nothing: the log remains and grows until the next one.
    this.#running = this.#checkpoint!()
      .catch(() => {})
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async #open(): Promise<number> {
    // SQLite holds no locks on the log file, so that closing this descriptor releases none.
    const descriptor = await openFile(`${this.#file}-wal`, 'r+')
    // The log file may be new: its directory entry must be durable as well.
    const folder = await openFile(dirname(this.#file), 'r')
    await new Promise<void>((resolve, reject) => {
      fdatasync(folder, (error) => (error ? reject(error) : resolve()))
    })
    await closeFile(folder)
    return descriptor
  }
}
