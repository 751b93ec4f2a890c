// Extracts the content of untrusted attachments in a sandboxed process with limited memory and time.

import { fileURLToPath } from 'node:url'
import { type Clock, systemClock } from '../base/clock.ts'
import { entryFile } from '../base/entry.ts'
import { ProductError } from '../base/errors.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { Extraction } from '../content/extract/extract.ts'
import { FILE_BYTES_MAX, type FileToRead } from '../content/extract/extracted-content.ts'
import { isPdf, readPdf } from '../content/extract/pdf.ts'
import { SandboxedProcess } from './sandboxed-process.ts'

/** docs/design/mailbox.md §10: timeout of one file, in ms. */
export const TIMEOUT_MS = 10_000
/** Queued files, and bytes of files in memory at a time. */
const QUEUE_MAX = 100
const BYTES_AT_ONCE = 64 * 1024 * 1024

export interface ExtractorOptions {
  /** Path of pdftotext; "" where it is not installed. */
  pdfProgram: string
  clock?: Clock
  /** Replacement of the process, for tests. */
  process?: SandboxedProcess<FileToRead, Extraction>
}

const PROCESS_FILE = fileURLToPath(entryFile(new URL('./extract-process.ts', import.meta.url)))

export class Extractor {
  readonly #process: SandboxedProcess<FileToRead, Extraction>
  readonly #memory = new Semaphore(BYTES_AT_ONCE)
  /** One file at a time: its timeout starts when its turn comes. */
  readonly #turn = new Semaphore(1)
  readonly #pdfProgram: string
  readonly #clock: Clock

  constructor({ pdfProgram, clock = systemClock, process }: ExtractorOptions) {
    this.#pdfProgram = pdfProgram
    this.#clock = clock
    this.#process = process ?? new SandboxedProcess(PROCESS_FILE, clock)
  }

  /**
   * @param sizeBytes size of the file
   * @param read reads its bytes, called once memory is available
   * @param signal aborted when the client disconnects
   * @throws ProductError service_unavailable when the queue is full, or after `signal`
   */
  async extract(sizeBytes: number, read: () => Promise<FileToRead>, signal: AbortSignal): Promise<Extraction> {
    if (sizeBytes > FILE_BYTES_MAX) return { status: 'too_large' }
    if (this.#memory.waiting + this.#turn.waiting >= QUEUE_MAX) {
      throw new ProductError('service_unavailable', 'Too many files are queued for extraction. Try again.')
    }
    const release = await this.#memory.acquire(sizeBytes)
    const end = await this.#turn.acquire(1)
    try {
      return await this.#extractWithin(await read(), signal)
    } finally {
      end()
      release()
    }
  }

  async #extractWithin(file: FileToRead, signal: AbortSignal): Promise<Extraction> {
    const timeout = new AbortController()
    const stop = () => timeout.abort()
    const timer = this.#clock.after(TIMEOUT_MS, stop)
    signal.addEventListener('abort', stop)
    try {
      if (isPdf(file.bytes)) {
        if (this.#pdfProgram === '') return { status: 'unsupported' }
        return await readPdf(this.#pdfProgram, file.bytes, timeout.signal)
      }
      return await this.#process.request(file, timeout.signal)
    } catch (cause) {
      if (signal.aborted) throw new ProductError('service_unavailable', 'The request was cancelled.', { cause })
      // Out of memory, timeout or crash: caused by the file; the next file gets a new process.
      return { status: 'failed' }
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', stop)
    }
  }

  async close(): Promise<void> {
    this.#process.close()
  }
}
