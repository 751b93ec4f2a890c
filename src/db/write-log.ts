// The write-ahead log of a file: makes commits durable and brings them home into the file, without stopping the thread.

import { close, fdatasync, open } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

const openFile = promisify(open)
const closeFile = promisify(close)

// About what may gather in the log before it is brought home: enough to write each page once for many changes of it.
const LONG_BYTES = 16 * 1024 * 1024
// What a statement without large values writes: the pages of its table and of its indexes.
const STATEMENT_BYTES = 4096

/**
 * SQLite itself would flush the log inside COMMIT (`synchronous = FULL`) and bring it home every thousand pages, and the
 * whole thread would stand still meanwhile. Here COMMIT only writes the log (`NORMAL`); nobody is answered before
 * {@link flush}, so an answer means the same: it is on the disk.
 */
export class WriteLog {
  readonly #file: string
  readonly #bringHome: (() => Promise<void>) | undefined
  #descriptor: number | undefined
  #bytes = 0
  #passing: Promise<void> | undefined
  #wantsRest = false

  /** @param bringHome copies the log into the file, from another thread; left out, SQLite does so by itself */
  constructor(file: string, bringHome?: () => Promise<void>) {
    this.#file = file
    this.#bringHome = bringHome
  }

  /** Notes roughly what a statement adds to the log. */
  note(valueBytes: number): void {
    this.#bytes += STATEMENT_BYTES + valueBytes
  }

  /** Resolves when everything committed before the call is on the disk. */
  async flush(): Promise<void> {
    this.#descriptor ??= await this.#open()
    const descriptor = this.#descriptor
    await new Promise<void>((resolve, reject) => {
      fdatasync(descriptor, (error) => (error ? reject(error) : resolve()))
    })
  }

  /**
   * Called between two transactions. A long log is brought home beside the writing first; what was written meanwhile is
   * little, and for that the writing rests, because only a log that is wholly at home is begun anew.
   */
  async tend(): Promise<void> {
    if (this.#bringHome === undefined || this.#passing !== undefined) return
    if (this.#wantsRest) {
      this.#wantsRest = false
      await this.#pass()
      this.#bytes = 0
    } else if (this.#bytes > LONG_BYTES) {
      void this.#pass().then(() => {
        this.#wantsRest = true
      })
    }
  }

  async close(): Promise<void> {
    await this.#passing
    if (this.#descriptor !== undefined) await closeFile(this.#descriptor)
    this.#descriptor = undefined
  }

  #pass(): Promise<void> {
    // One that fails (a disk that is full) loses nothing: the log stays as it is, and grows until the next one.
    this.#passing = this.#bringHome!()
      .catch(() => {})
      .finally(() => {
        this.#passing = undefined
      })
    return this.#passing
  }

  async #open(): Promise<number> {
    // SQLite holds no locks on the log, so that closing this descriptor later takes none away.
    const descriptor = await openFile(`${this.#file}-wal`, 'r+')
    // The log is new: its name must be on the disk as well.
    const folder = await openFile(dirname(this.#file), 'r')
    await new Promise<void>((resolve, reject) => {
      fdatasync(folder, (error) => (error ? reject(error) : resolve()))
    })
    await closeFile(folder)
    return descriptor
  }
}
