// Indexes messages of earlier versions again with the present word segmentation (docs/design/mailbox.md §4), in batches in the background.

import type { Db, Reader, Tx } from '../../db/db.ts'
import type { Part } from '../../mime/message.ts'
import type { BodyTextReader } from '../../workers/body-reader.ts'
import type { Blobs } from '../content/blobs.ts'
import type { Accounts } from '../rows/accounts.ts'
import {
  type CorrespondentsByField,
  type IndexedMessage,
  indexMessage,
  isChangedBySegmentation,
  type SearchableMessage,
  unindexMessage,
} from '../search/text.ts'
import type { StoredAddresses } from './rows.ts'

/** Message numbers: the last one done, and the last one to do. */
interface ReindexProgress {
  after: number
  last: number
}

/** Undefined if nothing is left to do. */
function readProgress(reader: Reader): ReindexProgress | undefined {
  return reader.get<ReindexProgress>('SELECT place AS "after", last FROM text_renewal')
}

function saveProgress(tx: Tx, after: number): void {
  tx.run('UPDATE text_renewal SET place = ?', [after])
}

function endReindexing(tx: Tx): void {
  tx.run('DELETE FROM text_renewal')
}

/** A message with its searchable fields, except the text of its body. */
interface IndexableMessage {
  n: number
  id: string
  account: number
  message: Omit<SearchableMessage, 'searchText'>
  people: CorrespondentsByField
  blob: Uint8Array
  sizeBytes: number
  root: Part | null
}

interface SearchedRow {
  n: number
  id: string
  account: number
  subject: string
  addresses: string
  people: string
  internet_message_id: string | null
  blob: Uint8Array
  size_bytes: number
  structure: string
}

/** The next messages of all accounts with numbers above `after` up to `last`, in ascending order. */
async function searchableMessagesAfter(
  reader: Reader,
  { after, last }: { after: number; last: number },
  limit: number,
): Promise<IndexableMessage[]> {
  const rows = reader.all<SearchedRow>(
    `SELECT n, id, account, subject, addresses, people, internet_message_id, blob, size_bytes, structure FROM messages
     WHERE n > ? AND n <= ? ORDER BY n LIMIT ?`,
    [after, last, limit],
  )
  return Promise.all(
    rows.map(async (row) => {
      const { from, to, cc, bcc } = JSON.parse(row.addresses) as StoredAddresses
      const { root } = JSON.parse(row.structure) as { root: Part | null }
      const attachments = reader.all<{ filename: string }>(
        'SELECT filename FROM attachments WHERE message = ? ORDER BY n',
        [row.n],
      )
      const { n, id, account, subject, internet_message_id: messageId, blob, size_bytes: sizeBytes } = row
      const message = { subject, from, to, cc, bcc, messageId, attachments }
      return { n, id, account, message, people: JSON.parse(row.people) as CorrespondentsByField, blob, sizeBytes, root }
    }),
  )
}

/** Whether a message still exists. */
function messageExists(reader: Reader, { n, id }: Pick<IndexableMessage, 'n' | 'id'>): boolean {
  return reader.get('SELECT 1 FROM messages WHERE n = ? AND id = ?', [n, id]) !== undefined
}

// A message takes about a millisecond, most of it outside the write. A batch with long texts ends early, so that it blocks other writes
// no longer than a delivery does.
const MESSAGES_PER_BATCH = 20
const CHARS_PER_BATCH = 256 * 1024
/** Messages per run: other jobs run in between. */
const MESSAGES_PER_RUN = 5000

interface ReindexResult {
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
