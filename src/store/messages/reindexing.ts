// Re-indexes messages of earlier versions with today's word segmentation (docs/design/mailbox.md §4), in batches in the background.

import type { Db, Tx } from '../../db/db.ts'
import type { BodyTextReader } from '../../workers/body-reader.ts'
import type { Blobs } from '../content/blobs.ts'
import type { Accounts } from '../rows/accounts.ts'
import { endReindexing, readProgress, saveProgress } from '../search/reindex-progress.ts'
import { type IndexedMessage, indexMessage, isChangedBySegmentation, unindexMessage } from '../search/text.ts'
import { type IndexableMessage, messageExists, searchableMessagesAfter } from './indexable.ts'

// A message takes about a millisecond, most of it outside the write. A batch with long texts ends early, so that it blocks other writes
// no longer than a delivery does.
const MESSAGES_PER_BATCH = 20
const CHARS_PER_BATCH = 256 * 1024
/** Messages per run: other jobs run in between. */
const MESSAGES_PER_RUN = 5000

export interface ReindexResult {
  reindexed: number
  unreadable: number
}

type Read = IndexedMessage & { id: string }

interface Deps {
  db: Db
  accounts: Accounts
  blobs: Blobs
}

export class Reindexing {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Continues from the saved progress until the run's limit or the signal. Messages with unchanged tokens are not written. */
  async run(reader: BodyTextReader, signal: AbortSignal): Promise<ReindexResult> {
    const { db } = this.#deps
    const done: ReindexResult = { reindexed: 0, unreadable: 0 }
    for (let processed = 0; processed < MESSAGES_PER_RUN && !signal.aborted; ) {
      const progress = readProgress(db.read)
      if (progress === undefined) break
      const messages = await searchableMessagesAfter(db.read, progress, MESSAGES_PER_BATCH)
      if (messages.length === 0) await db.write(endReindexing)
      else processed += await this.#reindexBatch(reader, messages, done)
    }
    return done
  }

  /** @returns how many of the messages were processed */
  async #reindexBatch(
    reader: BodyTextReader,
    messages: readonly IndexableMessage[],
    done: ReindexResult,
  ): Promise<number> {
    const changed: Read[] = []
    let processed = 0
    for (let chars = 0; processed < messages.length && chars < CHARS_PER_BATCH; processed++) {
      const read = await this.#read(reader, messages[processed]!)
      if (read === null) done.unreadable++
      else if (isChangedBySegmentation(read.message)) changed.push(read)
      chars += read?.message.searchText.length ?? 0
    }
    const { db, accounts } = this.#deps
    await db.write((tx) => {
      for (const message of changed) if (messageExists(tx, message)) reindexAtEnd(tx, message)
      for (const account of new Set(changed.map((message) => message.account))) accounts.advanceSeq(tx, account)
      saveProgress(tx, messages[processed - 1]!.n)
    })
    done.reindexed += changed.length
    return processed
  }

  /** Null if its content is damaged: its index row stays unchanged. */
  async #read(reader: BodyTextReader, indexable: IndexableMessage): Promise<Read | null> {
    const { n, id, account, message, people: correspondents, blob, sizeBytes, root } = indexable
    try {
      const bytes = await this.#deps.blobs.bytes(blob, 0, sizeBytes)
      const searchText = root === null ? '' : await reader.text(bytes, root)
      return { n, id, account, message: { ...message, searchText }, correspondents }
    } catch {
      return null
    }
  }
}

/** Runs at the end of the transaction like all writes of the index, in order of message number. */
function reindexAtEnd(tx: Tx, message: IndexedMessage): void {
  tx.atEnd((end) => {
    unindexMessage(end, message.n)
    indexMessage(end, message)
  }, message.n)
}
