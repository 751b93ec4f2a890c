// Looks into files of strangers in a process with little memory and little time: whatever happens there ends there.

import { fileURLToPath } from 'node:url'
import { type Clock, systemClock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { Extraction } from '../content/extract/extract.ts'
import { FILE_BYTES_MAX, type FileToRead } from '../content/extract/extracted.ts'
import { isPdf, readPdf } from '../content/extract/pdf.ts'
import { ReadingProcess } from './sandboxed-process.ts'

/** Decisions §10.10: how long one file is looked into. ms. */
export const PATIENCE_MS = 10_000
/** Files that may wait, and bytes of files in work at a time. */
const WAITING_MAX = 100
const BYTES_AT_ONCE = 64 * 1024 * 1024

export interface ExtractorOptions {
  /** Path of pdftotext; "" where there is none. */
  pdfProgram: string
  clock?: Clock
  /** Another process, for tests of what may happen to it. */
  process?: ReadingProcess<FileToRead, Extraction>
}

const OWN = fileURLToPath(new URL('./extract-process.ts', import.meta.url))

export class Extractor {
  readonly #process: ReadingProcess<FileToRead, Extraction>
  readonly #ration = new Semaphore(BYTES_AT_ONCE)
  /** One after another: the time of a file begins when its turn comes. */
  readonly #turn = new Semaphore(1)
  readonly #pdfProgram: string
  readonly #clock: Clock

  constructor({ pdfProgram, clock = systemClock, process }: ExtractorOptions) {
    this.#pdfProgram = pdfProgram
    this.#clock = clock
    this.#process = process ?? new ReadingProcess(OWN, clock)
  }

  /**
   * @param sizeBytes of the file, known before it is read
   * @param read gives its bytes, asked for once there is room for them
   * @param signal given up when whoever asked goes away
   * @throws ProductError service_unavailable when too many files wait, or nobody waits for this one any more
   */
  async extract(sizeBytes: number, read: () => Promise<FileToRead>, signal: AbortSignal): Promise<Extraction> {
    if (sizeBytes > FILE_BYTES_MAX) return { status: 'too_large' }
    if (this.#ration.waiting + this.#turn.waiting >= WAITING_MAX) {
      throw new ProductError('service_unavailable', 'Too many files wait to be looked into.')
    }
    const release = await this.#ration.acquire(sizeBytes)
    const end = await this.#turn.acquire(1)
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
      return await this.#process.ask(file, patience.signal)
    } catch (cause) {
      if (signal.aborted)
        throw new ProductError('service_unavailable', 'Nobody waits for the file any more.', { cause })
      // Out of memory, out of time, or dead: the file is to blame, and the next one gets a new process.
      return { status: 'failed' }
    } finally {
      watch.cancel()
      signal.removeEventListener('abort', stop)
    }
  }

  async close(): Promise<void> {
    this.#process.close()
  }
}
