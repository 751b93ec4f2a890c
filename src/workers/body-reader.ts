// Reads the text of stored mails anew: small ones at once, large ones in a thread, so that nobody else waits for them.

import { Piscina } from 'piscina'
import type { Part } from '../mime/message.ts'
import { bodyText } from '../mime/parse.ts'
import type { BodyTask } from './body-thread.ts'

/** Bytes of a mail that is read on the calling thread, in about a millisecond. */
const HERE_MAX = 16 * 1024
/** A thread without work for so long is ended. */
const IDLE_MS = 10_000
/** MiB. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 256 }

export class BodyReader {
  readonly #pool = new Piscina<BodyTask, string>({
    filename: new URL('./body-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: THREAD_MEMORY,
    recordTiming: false,
  })

  constructor() {
    // A thread that dies without work is replaced by the pool; one with work rejects its task.
    this.#pool.on('error', () => {})
  }

  /**
   * What the index keeps of a body, see `bodyText`.
   * @throws Error when the thread died
   */
  async text(bytes: Uint8Array, root: Part): Promise<string> {
    return bytes.length <= HERE_MAX ? bodyText(bytes, root) : this.#pool.run({ bytes, root })
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}
