// Composes messages: small ones inline, large ones in a worker thread.

import { MINUTE_MS } from '../base/durations.ts'
import { entryFile } from '../base/entry.ts'
import { ProductError, productError } from '../base/errors.ts'
import { ThreadPool } from '../base/thread-pool.ts'
import {
  type ComposedContent,
  composeContent,
  contentBytes,
  type RawContent,
  rawContent,
  type UncheckedDraft,
} from '../mime/compose/outgoing-content.ts'
import type { RawDraftRules } from '../mime/compose/raw-draft.ts'
import type { ComposeResult, ComposeTask, RawSource } from './compose-thread.ts'

/** Largest message in bytes composed inline. Measured: it takes 1 ms; the transfer to a thread and back takes 0.1 ms. */
const INLINE_MAX = 128 * 1024
/** An idle thread is stopped after this time. */
const IDLE_MS = MINUTE_MS
/** MiB; the largest message takes about 300. */
const MEMORY = { young: 32, old: 768 }

export class Composer {
  readonly #pool = new ThreadPool<ComposeTask, ComposeResult>({
    file: entryFile(new URL('./compose-thread.ts', import.meta.url)),
    idleMs: IDLE_MS,
    memory: MEMORY,
  })

  /**
   * Composes a message; the buffers of a large draft are transferred to the thread and unusable afterwards.
   * @param isRead whether the parsed message is needed too
   * @throws ProductError see `composeContent`; service_unavailable when the thread died or the appliance stops
   */
  async compose(draft: UncheckedDraft, isRead: boolean): Promise<ComposedContent> {
    if (contentBytes(draft) <= INLINE_MAX) return composeContent(draft, isRead)
    const result = await this.#pool.run({ draft, isRead }, { transfer: buffersOf(draft) }).catch((cause) => {
      throw new ProductError('service_unavailable', 'The message could not be composed. Try again.', { cause })
    })
    if ('refused' in result) throw productError(result.refused)
    return (result as { written: ComposedContent }).written
  }

  /**
   * Checks and completes a submitted message; the buffer of a large one is transferred to the thread and unusable afterwards.
   * @throws ProductError see `rawContent`; service_unavailable when the thread died or the appliance stops
   */
  async prepareRaw(source: RawSource, rules: RawDraftRules, isRead: boolean): Promise<RawContent> {
    if ('bytes' in source && source.bytes.length <= INLINE_MAX) return rawContent(source.bytes, rules, isRead)
    const transfer = 'bytes' in source ? [source.bytes.buffer as ArrayBuffer] : []
    const result = await this.#pool.run({ source, rules, isRead }, { transfer }).catch((cause) => {
      throw new ProductError('service_unavailable', 'The message could not be prepared. Try again.', { cause })
    })
    if ('refused' in result) throw productError(result.refused)
    return (result as { raw: RawContent }).raw
  }

  /** Stops the thread. */
  async close(): Promise<void> {
    await this.#pool.close()
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
