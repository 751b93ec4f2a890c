// Composes messages: small ones inline, large ones in a worker thread.

import { Piscina } from 'piscina'
import { ProductError, productError } from '../base/errors.ts'
import {
  type ComposedContent,
  composeContent,
  contentBytes,
  type UncheckedDraft,
} from '../mime/compose/outgoing-content.ts'
import type { ComposeResult, ComposeTask } from './compose-thread.ts'

/** Largest message in bytes composed inline. Measured: it takes 1 ms; the transfer to a thread and back takes 0.1 ms. */
const INLINE_MAX = 128 * 1024
/** An idle thread is stopped after this time. */
const IDLE_MS = 60_000
/** MiB; the largest message takes about 300. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 768 }

export class Composer {
  readonly #pool = new Piscina<ComposeTask, ComposeResult>({
    filename: new URL('./compose-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: THREAD_MEMORY,
    recordTiming: false,
  })
  #closed = false

  constructor() {
    // The pool replaces an idle thread that dies; a busy one rejects its task.
    this.#pool.on('error', () => {})
  }

  /**
   * Composes a message; the buffers of a large draft are transferred to the thread and unusable afterwards.
   * @param isRead whether the parsed message is needed too
   * @throws ProductError see `composeContent`; service_unavailable when the thread died
   */
  async compose(draft: UncheckedDraft, isRead: boolean): Promise<ComposedContent> {
    if (contentBytes(draft) <= INLINE_MAX) return composeContent(draft, isRead)
    // A destroyed pool would start new threads.
    if (this.#closed) throw new ProductError('service_unavailable', 'Mailstead is shutting down. Try again.')
    const result = await this.#pool
      .run({ draft, isRead }, { transferList: buffersOf(draft) as never })
      .catch((cause) => {
        throw new ProductError('service_unavailable', 'The message could not be composed. Try again.', { cause })
      })
    if ('refused' in result) throw productError(result.refused)
    return result.written
  }

  /** Stops the thread. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#pool.destroy()
  }
}

/** The buffers that can be transferred: those that hold one content and nothing else. */
function buffersOf({ textBody, htmlBody, attachments }: UncheckedDraft): ArrayBuffer[] {
  const contents = [textBody, htmlBody, ...attachments.map(({ content }) => content)]
  const owned = contents.filter(
    (content) => content instanceof Uint8Array && content.byteLength === content.buffer.byteLength,
  )
  return [...new Set(owned.map((content) => (content as Uint8Array).buffer as ArrayBuffer))]
}
