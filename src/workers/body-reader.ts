// Extracts the text of stored messages for the index: small ones inline, large ones in a worker thread.

import { Piscina } from 'piscina'
import type { Part } from '../mime/message.ts'
import { bodyText } from '../mime/parse.ts'
import type { BodyTask } from './body-thread.ts'

/** Largest message in bytes that is read on the calling thread, in about a millisecond. */
const INLINE_MAX = 16 * 1024
/** An idle thread is stopped after this time. */
const IDLE_MS = 10_000
/** MiB. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 256 }

export class BodyTextReader {
  readonly #pool = new Piscina<BodyTask, string>({
    filename: new URL('./body-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: THREAD_MEMORY,
    recordTiming: false,
  })

  constructor() {
    // The pool replaces an idle thread that dies; a busy one rejects its task.
    this.#pool.on('error', () => {})
  }

  /**
   * The text of a body for the index, see `bodyText`.
   * @throws Error when the thread died
   */
  async text(bytes: Uint8Array, root: Part): Promise<string> {
    return bytes.length <= INLINE_MAX ? bodyText(bytes, root) : this.#pool.run({ bytes, root })
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}
