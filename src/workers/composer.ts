// Where mails are composed: small ones here and now, large ones in a thread, so that nobody else waits for them.

import { Piscina } from 'piscina'
import { ProductError, productError } from '../base/errors.ts'
import { contentBytes, type RoughDraft, type Written, write } from '../mime/compose/outgoing-content.ts'
import type { ComposeTask, Composing } from './compose-thread.ts'

/** Measured: a mail of so many bytes takes 1 ms, and handing it to a thread and back some 0.1 ms. */
const HERE_MAX = 128 * 1024
/** A thread without mail for so long is ended. */
const IDLE_MS = 60_000
/** MiB; the largest mail takes some 300 of them. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 768 }

export class Composer {
  readonly #pool = new Piscina<ComposeTask, Composing>({
    filename: new URL('./compose-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: THREAD_MEMORY,
    recordTiming: false,
  })
  #closed = false

  constructor() {
    // A thread that dies without work is replaced by the pool; one with work rejects its task.
    this.#pool.on('error', () => {})
  }

  /**
   * Composes a mail; the bytes of a large one are handed to the thread and gone.
   * @param isRead whether the mail is to be shown to somebody
   * @throws ProductError see `write`; service_unavailable when the thread gave up
   */
  async write(draft: RoughDraft, isRead: boolean): Promise<Written> {
    if (contentBytes(draft) <= HERE_MAX) return write(draft, isRead)
    // A pool that was ended would begin anew.
    if (this.#closed) throw new ProductError('service_unavailable', 'Mailstead is closing.')
    const result = await this.#pool
      .run({ draft, isRead }, { transferList: memoryOf(draft) as never })
      .catch((cause) => {
        throw new ProductError('service_unavailable', 'The mail could not be composed now.', { cause })
      })
    if ('refused' in result) throw productError(result.refused)
    return result.written
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.destroy()
  }
}

/** What can be handed over: memory that holds nothing but one content. */
function memoryOf({ textBody, htmlBody, attachments }: RoughDraft): ArrayBuffer[] {
  const contents = [textBody, htmlBody, ...attachments.map(({ content }) => content)]
  const owned = contents.filter(
    (content) => content instanceof Uint8Array && content.byteLength === content.buffer.byteLength,
  )
  return [...new Set(owned.map((content) => (content as Uint8Array).buffer as ArrayBuffer))]
}
