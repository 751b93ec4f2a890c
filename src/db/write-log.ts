// The write-ahead log of a database: flushes commits and checkpoints the log without blocking the thread.

import { close, fdatasync, open } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { isMainThread } from 'node:worker_threads'

const openFile = promisify(open)
const closeFile = promisify(close)

// Size of the log from which it is checkpointed: large enough to write a page once for many changes of it.
const LONG_BYTES = 16 * 1024 * 1024
// Size from which writing waits for a disk that is slower.
const LONGEST_BYTES = 2 * LONG_BYTES
// What may be left for the checkpoint for which writing pauses, and how often the log is checkpointed before it at most.
const LITTLE_BYTES = 512 * 1024
const ROUNDS_MAX = 3
// Estimate for a statement without large values: the pages of its table and indexes.
const STATEMENT_BYTES = 4096
// SQLITE_IOERR_FSYNC: https://sqlite.org/rescode.html#ioerr_fsync
const FSYNC_FAILED = 1034

/**
 * SQLite itself would flush the log inside COMMIT (`synchronous = FULL`) and checkpoint it every thousand pages, and the
 * whole thread would be blocked meanwhile. Here COMMIT only writes the log (`NORMAL`), and callers get their result after
 * {@link flush}, so that a result still means that the data is durable.
 */
export class WriteLog {
  readonly #file: string
  readonly #checkpoint: (() => Promise<number>) | undefined
  #descriptor: number | undefined
  #databaseDescriptor: number | undefined
  #bytes = 0
  #running: Promise<void> | undefined
  #needsPause = false
  /** Pages that the last checkpoint did not copy, because a reader needs an older snapshot or another thread checkpoints. */
  #pagesLeft = Infinity
  #failure: unknown

  /** @param checkpoint checkpoints the log in another thread, and returns how many pages are left; without it, SQLite does so by itself */
  constructor(file: string, checkpoint?: () => Promise<number>) {
    this.#file = file
    this.#checkpoint = checkpoint
  }

  /** Why a checkpoint could not flush the file, if so: what it has copied may be lost, and only the log has it. */
  get failure(): unknown {
    return this.#failure
  }

  /** Adds an estimate of what a statement writes to the log. */
  note(valueBytes: number): void {
    this.#bytes += STATEMENT_BYTES + valueBytes
  }

  /**
   * Resolves when everything committed before the call is durable.
   * @throws Error also when the database file could not be flushed earlier
   */
  async flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    this.#descriptor ??= await this.#open()
    await sync(this.#descriptor)
  }

  /**
   * Called between two transactions. A long log is checkpointed while writing continues, until what was written meanwhile is
   * little. Then writing pauses for a last checkpoint, because SQLite restarts the log only when all of it was copied. Other threads
   * pause as well: with two that write all the time, the log would grow without bound. They do not wait for what readers have kept back.
   * @param withoutWriters runs work while no connection writes
   */
  async tend(withoutWriters: (work: () => Promise<void>) => Promise<void>): Promise<void> {
    if (this.#checkpoint === undefined) return
    if (this.#bytes > LONGEST_BYTES) await this.#running
    // After a failed flush the log must stay as it is: the next flush may succeed although pages were lost.
    if (this.#running !== undefined || this.#failure !== undefined) return
    if (this.#needsPause) {
      this.#needsPause = false
      const checkpoint = () => this.#checkpointOnce()
      await this.#run(this.#pagesLeft === 0 ? withoutWriters(checkpoint) : checkpoint())
      this.#bytes = 0
    } else if (this.#bytes > LONG_BYTES) {
      void this.#run(this.#checkpointWhileWriting()).then(() => {
        this.#needsPause = true
      })
    }
  }

  async close(): Promise<void> {
    await this.#running
    if (this.#descriptor !== undefined) await closeFile(this.#descriptor)
    this.#descriptor = undefined
  }

  #run(checkpoint: Promise<void>): Promise<void> {
    // A checkpoint that fails otherwise (disk full) loses nothing: the log remains and grows until the next one.
    this.#running = checkpoint
      .catch((error: Error) => {
        if (error.cause === FSYNC_FAILED) this.#failure ??= error
      })
      .finally(() => {
        this.#running = undefined
      })
    return this.#running
  }

  async #checkpointOnce(): Promise<void> {
    this.#pagesLeft = Infinity
    this.#pagesLeft = await this.#checkpoint!()
  }

  async #checkpointWhileWriting(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const before = this.#bytes
      await this.#checkpointOnce()
      await this.#flushDatabase()
      if (this.#bytes - before < LITTLE_BYTES || this.#bytes > LONGEST_BYTES) break
    }
  }

  /**
   * Flushes the database file. SQLite does so only at the end of a checkpoint that has copied the whole log, which is the one that writing
   * waits for. The descriptor is never closed: that would release the locks SQLite holds on the file for the process (fcntl, POSIX). A
   * worker thread closes its descriptors when it ends, and therefore opens none.
   */
  async #flushDatabase(): Promise<void> {
    if (!isMainThread) return
    this.#databaseDescriptor ??= await openFile(this.#file, 'r')
    await sync(this.#databaseDescriptor).catch((error: unknown) => {
      this.#failure = error
      throw error
    })
  }

  async #open(): Promise<number> {
    // SQLite holds no locks on the log file, so that closing this descriptor releases none.
    const descriptor = await openFile(`${this.#file}-wal`, 'r+')
    // The log file may be new: its directory entry must be durable as well.
    const folder = await openFile(dirname(this.#file), 'r')
    await sync(folder)
    await closeFile(folder)
    return descriptor
  }
}

function sync(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(descriptor, (error) => (error ? reject(error) : resolve()))
  })
}
