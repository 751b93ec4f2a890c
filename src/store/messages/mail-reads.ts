// What mail programs read of messages beyond their folder entries, by number.

import type { DbReads, Reader } from '../../db/db.ts'
import type { Part } from '../../mime/message.ts'
import { type KeptHeaders, unpackHeaders } from '../../mime/message-headers.ts'
import type { BlobReads } from '../blobs.ts'
import { messagesWithWords } from '../search/word-hits.ts'
import { threadIdsOf } from '../threads/rows.ts'
import { packedHeaders } from './headers.ts'

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
    return new Map([...packedHeaders(reader, numbers)].map(([n, packed]) => [n, unpackHeaders(packed)]))
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

  /**
   * Bytes of a message from `start` to `end` (exclusive) as they are stored, one chunk in memory at a time.
   * @throws ProductError service_unavailable when a chunk is missing or damaged
   */
  bytes({ blob }: Pick<MailContent, 'blob'>, start: number, end: number): AsyncGenerator<Uint8Array> {
    return this.#blobs.read(blob, start, end)
  }
}
