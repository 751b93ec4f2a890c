// Looks into files of strangers in a thread with little memory and little time: whatever happens there ends there.

import { Piscina } from 'piscina'
import { type Clock, systemClock } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { Ration } from '../../base/ration.ts'
import type { Extraction } from './extract.ts'
import { FILE_BYTES_MAX, type FileToRead } from './extracted.ts'
import { isPdf, readPdf } from './pdf.ts'

/** Decisions §10.10: how long one file is looked into, and the memory for it (MiB). */
export const PATIENCE_MS = 10_000
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 256 - 32 }
/** A thread without work for so long is ended. */
const IDLE_MS = 60_000
/** Files that may wait, and bytes of files in work at a time. */
const WAITING_MAX = 100
const BYTES_AT_ONCE = 64 * 1024 * 1024

export interface ExtractorOptions {
  /** Path of pdftotext; "" where there is none. */
  pdfProgram: string
  clock?: Clock
  /** What the thread runs, for tests of what may happen to it. */
  filename?: string
}

export class Extractor {
  readonly #pool: Piscina<FileToRead, Extraction>
  readonly #ration = new Ration(BYTES_AT_ONCE)
  /** One after another: the time of a file begins when its turn comes. */
  readonly #turn = new Ration(1)
  readonly #pdfProgram: string
  readonly #clock: Clock

  constructor({ pdfProgram, clock = systemClock, filename }: ExtractorOptions) {
    this.#pdfProgram = pdfProgram
    this.#clock = clock
    this.#pool = new Piscina({
      filename: filename ?? new URL('./extract-thread.ts', import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      resourceLimits: THREAD_MEMORY,
      recordTiming: false,
    })
    // A thread that dies without work is replaced by the pool; one with work rejects its task.
    this.#pool.on('error', () => {})
  }

  /**
   * @param sizeBytes of the file, known before it is read
   * @param read gives its bytes, in memory of their own, asked for once there is room for them
   * @param signal given up when whoever asked goes away
   * @throws ProductError service_unavailable when too many files wait, or nobody waits for this one any more
   */
  async extract(sizeBytes: number, read: () => Promise<FileToRead>, signal: AbortSignal): Promise<Extraction> {
    if (sizeBytes > FILE_BYTES_MAX) return { status: 'too_large' }
    if (this.#ration.waiting + this.#turn.waiting >= WAITING_MAX) {
      throw new ProductError('service_unavailable', 'Too many files wait to be looked into.')
    }
    const release = await this.#ration.take(sizeBytes)
    const end = await this.#turn.take(1)
    try {
      return await this.#look(await read(), signal)
    } finally {
      end()
      release()
    }
  }

  async #look(file: FileToRead, signal: AbortSignal): Promise<Extraction> {
    const patience = new AbortController()
    const stop = () => patience.abort()
    const watch = this.#clock.after(PATIENCE_MS, stop)
    signal.addEventListener('abort', stop)
    try {
      if (isPdf(file.bytes)) {
        if (this.#pdfProgram === '') return { status: 'unsupported' }
        return await readPdf(this.#pdfProgram, file.bytes, patience.signal)
      }
      const transferList = [file.bytes.buffer] as never
      return await this.#pool.run(file, { signal: patience.signal, transferList })
    } catch (cause) {
      if (signal.aborted)
        throw new ProductError('service_unavailable', 'Nobody waits for the file any more.', { cause })
      // Out of memory, out of time, or dead: the file is to blame, and the next one gets a new thread.
      return { status: 'failed' }
    } finally {
      watch.cancel()
      signal.removeEventListener('abort', stop)
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}
