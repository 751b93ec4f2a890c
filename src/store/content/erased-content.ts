// Content of messages that a mailbox erases in bulk: deleted within minutes, because the sweep comes once a day.

import { MINUTE_MS } from '../../base/durations.ts'
import type { Blobs, FindNamed } from './blobs.ts'

/** The content of an erased message. */
export interface ErasedContent {
  hash: Uint8Array
  sizeBytes: number
  /** When its row was written, ms: content that is stored again later may belong to another message. */
  createdAt: number
}

/** What one mailbox has erased from which on its content is not left to the sweep: bytes, and messages. */
export const ERASED_BYTES = 64 * 1024 * 1024
const ERASED_MESSAGES = 10_000
/** Remembered of all mailboxes; that of the mailbox that began first is left to the sweep then. */
const REMEMBERED_MAX = 100_000
/** Younger content may be of a message that is being stored, or be read at the moment. */
const GRACE_MS = 5 * MINUTE_MS
/** Contents deleted in one unit of work, and their bytes: what is delivered meanwhile waits for it. */
const BATCH = 100
const BATCH_BYTES = 64 * 1024 * 1024

interface MailboxErasures {
  contents: ErasedContent[]
  bytes: number
}

/** Remembers what was erased since the start: the sweep finds everything. */
export class ErasedContents {
  readonly #blobs: Pick<Blobs, 'releaseAll'>
  /** By number of the account. */
  readonly #mailboxes = new Map<number, MailboxErasures>()
  #count = 0

  constructor(blobs: Pick<Blobs, 'releaseAll'>) {
    this.#blobs = blobs
  }

  /** To be called after the commit. */
  add(account: number, contents: readonly ErasedContent[]): void {
    if (contents.length === 0) return
    const erased = this.#mailboxes.get(account) ?? { contents: [], bytes: 0 }
    this.#mailboxes.set(account, erased)
    for (const content of contents) {
      erased.contents.push(content)
      erased.bytes += content.sizeBytes
    }
    this.#count += contents.length
    while (this.#count > REMEMBERED_MAX) this.#forget(this.#mailboxes.keys().next().value!)
  }

  #forget(account: number): void {
    this.#count -= this.#mailboxes.get(account)!.contents.length
    this.#mailboxes.delete(account)
  }

  /**
   * Deletes the content of mailboxes that erased much, as far as no row refers to it and it was stored some minutes ago.
   * @param now ms
   * @returns how many
   */
  async release(findNamed: FindNamed, now: number, signal: AbortSignal): Promise<number> {
    let deleted = 0
    for (const [account, { contents, bytes }] of [...this.#mailboxes]) {
      if (bytes < ERASED_BYTES && contents.length < ERASED_MESSAGES) continue
      const { old = [], young = [] } = Object.groupBy(contents, ({ createdAt }) =>
        createdAt <= now - GRACE_MS ? 'old' : 'young',
      )
      if (old.length === 0) continue
      this.#forget(account)
      this.add(account, young)
      for (const batch of batchesOf(old)) {
        if (signal.aborted) break
        const released = batch.map(({ hash, createdAt }) => ({ hash, until: createdAt }))
        deleted += await this.#blobs.releaseAll(released, findNamed)
      }
    }
    return deleted
  }
}

function* batchesOf(contents: readonly ErasedContent[]): Generator<ErasedContent[]> {
  let batch: ErasedContent[] = []
  let bytes = 0
  for (const content of contents) {
    if (batch.length === BATCH || (batch.length > 0 && bytes + content.sizeBytes > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(content)
    bytes += content.sizeBytes
  }
  if (batch.length > 0) yield batch
}
