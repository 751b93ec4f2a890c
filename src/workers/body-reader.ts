// Extracts the text of stored messages for the index: small ones inline, large ones in a worker thread.

import { entryFile } from '../base/entry.ts'
import { ThreadPool } from '../base/thread-pool.ts'
import type { Part } from '../mime/message.ts'
import { bodyText } from '../mime/parse.ts'
import type { BodyTask } from './body-thread.ts'

/** Largest message in bytes that is read on the calling thread, in about a millisecond. */
const INLINE_MAX = 16 * 1024
/** An idle thread is stopped after this time. */
const IDLE_MS = 10_000
/** MiB. */
const MEMORY = { young: 32, old: 256 }

export class BodyTextReader {
  readonly #pool = new ThreadPool<BodyTask, string>({
    file: entryFile(new URL('./body-thread.ts', import.meta.url)),
    idleMs: IDLE_MS,
    memory: MEMORY,
  })

  /**
   * The text of a body for the index, see `bodyText`.
   * @throws Error when the thread died
   */
  async text(bytes: Uint8Array, root: Part): Promise<string> {
    return bytes.length <= INLINE_MAX ? bodyText(bytes, root) : this.#pool.run({ bytes, root })
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}
