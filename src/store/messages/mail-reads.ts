// What mail programs read of messages beyond their folder entries, by number.

import type { DbReads, Reader } from '../../db/db.ts'
import type { Part } from '../../mime/message.ts'
import { type KeptHeaders, unpackHeaders } from '../../mime/message-headers.ts'
import { type BlobReads, SMALL_CONTENT_BYTES } from '../content/blobs.ts'
import { DamagedContent } from '../content/damaged-content.ts'
import { entriesOfMessages, type MessageEntry } from '../entries/folders-entries.ts'
import { packedHeaders } from '../entries/headers.ts'
import { threadsNaming } from '../entries/join-threads.ts'
import { threadIdsOf } from '../entries/thread-rows.ts'
import type { Account } from '../rows/records.ts'
import { messagesWithWords } from '../search/hits.ts'
import { editRows, editRowsByNumber } from './edit-rows.ts'

/** A message as FETCH needs it beyond its entry. */
export interface MailRow {
  n: number
  /** EMAILID. */
  id: string
  /** THREADID. */
  threadId: string
  /** Keywords other than those of the flags, lower-case, sorted. */
  labels: string[]
  preview: string
  /** Date field, ms; null when missing or unreadable. */
  sentAt: number | null
}

/** A message as it is filed and marked, for synchronisation. */
export interface MailPlacement {
  n: number
  id: string
  sizeBytes: number
  /** ms */
  receivedAt: number
  /** Those of the flags included, sorted. */
  keywords: string[]
  entries: MessageEntry[]
}

/** Where the bytes of a message are, and its parts. */
export interface MailContent {
  n: number
  blob: Uint8Array
  /** Length of the stored bytes. */
  sizeBytes: number
  /** Null when the message was not parsed. */
  root: Part | null
}

export class MailReads {
  readonly #db: DbReads
  readonly #blobs: BlobReads

  constructor(db: DbReads, blobs: BlobReads) {
    this.#db = db
    this.#blobs = blobs
  }

  /** Messages by number; deleted ones are left out. */
  rows(numbers: readonly number[], reader: Reader = this.#db.read): Map<number, MailRow> {
    const rows = reader.all<Omit<MailRow, 'threadId' | 'labels'> & { thread: number; keywords: string }>(
      `SELECT n, id, thread, keywords, preview, sent_at AS sentAt FROM messages
       WHERE n IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(numbers)],
    )
    const threads = threadIdsOf(
      reader,
      rows.map(({ thread }) => thread),
    )
    return new Map(
      rows.map(({ thread, keywords, ...row }) => {
        return [row.n, { ...row, threadId: threads.get(thread) ?? '', labels: JSON.parse(keywords) as string[] }]
      }),
    )
  }

  /** Where messages of an account are filed and how they are marked, by number; deleted ones are left out. */
  placements(account: Account, numbers: readonly number[], reader: Reader = this.#db.read): Map<number, MailPlacement> {
    const rows = editRowsByNumber(reader, account, numbers)
    const entries = Map.groupBy(entriesOfMessages(reader, [...rows.keys()]), ({ message }) => message)
    const placed = [...rows.values()].map(({ n, id, sizeBytes, receivedAt, keywords }): [number, MailPlacement] => {
      return [n, { n, id, sizeBytes, receivedAt, keywords, entries: entries.get(n) ?? [] }]
    })
    return new Map(placed)
  }

  /** Numbers of messages of an account by id; deleted ones are left out. */
  numbers(account: Account, ids: readonly string[], reader: Reader = this.#db.read): Map<string, number> {
    return new Map([...editRows(reader, account, ids).values()].map(({ id, n }) => [id, n]))
  }

  /** Message-IDs by number, without angle brackets; messages without one are left out. */
  internetIds(numbers: readonly number[], reader: Reader = this.#db.read): Map<number, string> {
    const rows = reader.all<{ n: number; id: string }>(
      `SELECT n, internet_message_id AS id FROM messages
       WHERE n IN (SELECT value FROM json_each(?)) AND internet_message_id IS NOT NULL`,
      [JSON.stringify(numbers)],
    )
    return new Map(rows.map(({ n, id }) => [n, id]))
  }

  /** Messages of an account that have one of some Message-IDs, which are without angle brackets. */
  withInternetIds(
    { n: account }: Account,
    ids: readonly string[],
    reader: Reader = this.#db.read,
  ): { n: number; id: string; sizeBytes: number }[] {
    if (ids.length === 0) return []
    const threads = threadsNaming(reader, account, ids)
    return reader.all(
      `SELECT m.n, m.internet_message_id AS id, m.size_bytes AS sizeBytes FROM json_each(?) t
       CROSS JOIN messages m WHERE m.thread = t.value AND m.internet_message_id IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(threads), JSON.stringify(ids)],
    )
  }

  /** Keywords by number, for entries that are `labelled`. */
  labels(numbers: readonly number[], reader: Reader = this.#db.read): Map<number, string[]> {
    const rows = reader.all<{ n: number; keywords: string }>(
      'SELECT n, keywords FROM messages WHERE n IN (SELECT value FROM json_each(?))',
      [JSON.stringify(numbers)],
    )
    return new Map(rows.map(({ n, keywords }) => [n, JSON.parse(keywords) as string[]]))
  }

  /** Keywords of any message of an account, for PERMANENTFLAGS: the first `limit` in ascending order. */
  keywordsInUse(account: number, limit: number, reader: Reader = this.#db.read): string[] {
    const rows = reader.all<{ keyword: string }>(
      'SELECT DISTINCT keyword FROM message_keywords WHERE account = ? ORDER BY keyword LIMIT ?',
      [account, limit],
    )
    return rows.map(({ keyword }) => keyword)
  }

  /**
   * The header fields that mail programs list by. Messages of earlier versions that are not outlined yet are left out: their header is
   * to be read from the content.
   */
  headers(numbers: readonly number[], reader: Reader = this.#db.read): Map<number, KeptHeaders> {
    const headers = new Map<number, KeptHeaders>()
    for (const { message, packed } of packedHeaders(reader, numbers)) headers.set(message, unpackHeaders(packed))
    return headers
  }

  /** See {@link messagesWithWords}. */
  withWords(account: number, words: { part: 'any' | 'body'; text: string }): Promise<Set<number> | null> {
    return messagesWithWords(this.#db, account, words)
  }

  /** Structures by number, with the content they locate. */
  contents(numbers: readonly number[], reader: Reader = this.#db.read): Map<number, MailContent> {
    const rows = reader.all<{ n: number; blob: Uint8Array; sizeBytes: number; structure: string }>(
      `SELECT n, blob, size_bytes AS sizeBytes, structure FROM messages WHERE n IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(numbers)],
    )
    return new Map(
      rows.map(({ structure, ...row }) => [
        row.n,
        { ...row, root: (JSON.parse(structure) as { root: Part | null }).root },
      ]),
    )
  }

  /** Whole messages of at most {@link SMALL_CONTENT_BYTES} as they are stored, by number; others and damaged ones are left out. */
  small(contents: readonly MailContent[]): Map<number, Uint8Array> {
    const small = contents.filter(({ sizeBytes }) => sizeBytes <= SMALL_CONTENT_BYTES)
    const found = new Map<number, Uint8Array>()
    if (small.length === 0) return found
    const all = this.#blobs.small(small.map(({ blob: hash, sizeBytes }) => ({ hash, sizeBytes })))
    for (const [at, bytes] of all.entries()) if (bytes !== undefined) found.set(small[at]!.n, bytes)
    return found
  }

  /**
   * Bytes of a message from `start` to `end` (exclusive) as they are stored, one chunk in memory at a time.
   * @throws ProductError service_unavailable when a chunk is missing or damaged
   */
  bytes({ blob }: Pick<MailContent, 'blob'>, start: number, end: number): AsyncGenerator<Uint8Array> {
    return this.#blobs.read(blob, start, end)
  }

  /** Reads messages whole that another thread found damaged, so that their damage is noted. */
  async review(numbers: readonly number[]): Promise<void> {
    for (const { blob, sizeBytes } of this.contents(numbers).values()) {
      await this.#blobs.open(blob, 0, sizeBytes).catch((error: unknown) => {
        if (!(error instanceof DamagedContent)) throw error
      })
    }
  }

  /** {@link bytes}, verified before the first of them is returned. @throws DamagedContent */
  open({ blob }: Pick<MailContent, 'blob'>, start: number, end: number): Promise<AsyncIterable<Uint8Array>> {
    return this.#blobs.open(blob, start, end)
  }
}
