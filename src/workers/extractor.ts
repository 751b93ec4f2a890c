// Extracts the content of untrusted attachments in a sandboxed process with limited memory and time.

import { fileURLToPath } from 'node:url'
import { type Clock, systemClock } from '../base/clock.ts'
import { entryFile } from '../base/entry.ts'
import { ProductError } from '../base/errors.ts'
import { FairTurns, type TurnOwner } from '../base/fair-turns.ts'
import type { Extraction } from '../content/extract/extract.ts'
import { FILE_BYTES_MAX, type FileToRead } from '../content/extract/extracted-content.ts'
import { isPdf, readPdf } from '../content/extract/pdf.ts'
import { SandboxedProcess } from './sandboxed-process.ts'

/** docs/design/mailbox.md §10: timeout of one file, in ms. */
export const TIMEOUT_MS = 10_000
/** Files of one owner in the queue, and of all. */
export const FILES_EACH = 16
const QUEUE_MAX = 100

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
  /** One file at a time: its bytes are read, and its timeout starts, when its turn comes. Owners take turns. */
  readonly #turns = new FairTurns({ atOnce: 1, each: FILES_EACH, waiting: QUEUE_MAX })
  readonly #pdfProgram: string
  readonly #clock: Clock

  constructor({ pdfProgram, clock = systemClock, process }: ExtractorOptions) {
    this.#pdfProgram = pdfProgram
    this.#clock = clock
    this.#process = process ?? new SandboxedProcess(PROCESS_FILE, clock)
  }

  /**
   * @param sizeBytes size of the file
   * @param read reads its bytes, called when its turn comes
   * @param owner whose file it is: each has a share of the queue
   * @param signal aborted when the client disconnects
   * @throws ProductError service_unavailable when the queue or the share is full, or after `signal`
   */
  async extract(
    sizeBytes: number,
    read: () => Promise<FileToRead>,
    owner: TurnOwner,
    signal: AbortSignal,
  ): Promise<Extraction> {
    if (sizeBytes > FILE_BYTES_MAX) return { status: 'too_large' }
    const turn = this.#turns.take(owner)
    if (turn === null) {
      throw new ProductError('service_unavailable', 'Too many files are queued for extraction. Try again.')
    }
    const end = await turn
    try {
      // The client may have left the queue: its file would keep others waiting.
      if (signal.aborted) throw cancelled()
      return await this.#extractWithin(await read(), signal)
    } finally {
      end()
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
      if (signal.aborted) throw cancelled(cause)
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

function cancelled(cause?: unknown): ProductError {
  return new ProductError('service_unavailable', 'The request was canceled.', { cause })
}
