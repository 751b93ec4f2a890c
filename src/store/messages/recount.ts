// Integrity of messages: counts of folders and threads and storage totals computed again, and the content that rows refer to.

import { isDeepStrictEqual } from 'node:util'
import type { Reader } from '../../db/db.ts'
import type { NamedContent } from '../content/blobs.ts'
import { shownThreads } from '../entries/thread-rows.ts'
import { accountTotals } from '../rows/accounts.ts'
import { numberRange } from '../rows/accounts-numbers.ts'
import { countFolder, shownFolders } from '../rows/folders.ts'

/** The fields of a message that are counted. */
interface CountedMessage {
  n: number
  thread: number
  sizeBytes: number
  listed: number
  seen: number
}

const ROWS_PER_QUERY = 5000

/** All messages of an account, by number. */
function countedMessages(reader: Reader, account: number): Map<number, CountedMessage> {
  const { low, high } = numberRange(account)
  const messages = new Map<number, CountedMessage>()
  for (let after = low - 1; ; ) {
    const rows = reader.all<CountedMessage>(
      `SELECT n, thread, size_bytes AS sizeBytes, listed, seen FROM messages WHERE n > ? AND n <= ? ORDER BY n LIMIT ?`,
      [after, high, ROWS_PER_QUERY],
    )
    for (const row of rows) messages.set(row.n, row)
    if (rows.length < ROWS_PER_QUERY) return messages
    after = rows.at(-1)!.n
  }
}

/** Decoded bytes of all attachments, by account. */
function attachmentBytes(reader: Reader): Map<number, number> {
  const rows = reader.all<{ account: number; bytes: number }>(
    'SELECT account, sum(size_bytes) AS bytes FROM attachments GROUP BY account',
  )
  return new Map(rows.map(({ account, bytes }) => [account, bytes]))
}

const NEWEST_MAX = 5

/** The next contents of messages after number `after` (0 at first), at most `limit`. */
export function messageContents(reader: Reader, after: number, limit: number): NamedContent[] {
  return reader.all('SELECT n, blob AS hash FROM messages WHERE n > ? ORDER BY n LIMIT ?', [after, limit])
}

/** Messages with some content, with the numbers of their accounts. */
export function messagesWithContent(
  reader: Reader,
  hash: Uint8Array,
  limit: number,
): { id: string; account: number }[] {
  return reader.all('SELECT id, account FROM messages WHERE blob = ? ORDER BY n LIMIT ?', [hash, limit])
}

/** The contents of the newest messages of the mailboxes that received one most recently. */
export function newestContents(reader: Reader): Uint8Array[] {
  const rows = reader.all<{ hash: Uint8Array }>(
    `SELECT DISTINCT blob AS hash FROM messages WHERE n IN (SELECT max(n) FROM messages GROUP BY account)
     ORDER BY created_at DESC LIMIT ?`,
    [NEWEST_MAX],
  )
  return rows.map(({ hash }) => hash)
}

/** Reads all columns of the newest message. @throws Error of SQLite if their pages are damaged */
export function readNewestMessage(reader: Reader): void {
  reader.all('SELECT * FROM messages ORDER BY n DESC LIMIT 1')
}

/** Ids of folders and threads with wrong counts, and of mailboxes with wrong storage totals. */
export interface WrongCounts {
  folders: string[]
  threads: string[]
  quotas: string[]
}

/**
 * @param reader should be one snapshot; holds the messages of one mailbox in memory at a time
 * @param onCounted is called with the number of messages of each mailbox, for progress
 */
export function recount(reader: Reader, onCounted: (messages: number) => void = () => {}): WrongCounts {
  const wrong: WrongCounts = { folders: [], threads: [], quotas: [] }
  const files = attachmentBytes(reader)
  for (const { n, mailboxId, ...stored } of accountTotals(reader)) {
    const messages = countedMessages(reader, n)
    const usedBytes = sum([...messages.values()], ({ sizeBytes }) => sizeBytes)
    const counted = { usedBytes, messageCount: messages.size, attachmentBytes: files.get(n) ?? 0 }
    if (!isDeepStrictEqual(counted, stored)) wrong.quotas.push(mailboxId)
    for (const { n: folder, id, counts } of shownFolders(reader, n)) {
      if (!isDeepStrictEqual(countFolder(reader, folder, messages), counts)) wrong.folders.push(id)
    }
    const byThread = Map.groupBy(messages.values(), ({ thread }) => thread)
    for (const { n: thread, id, ...counts } of shownThreads(reader, n)) {
      if (!isDeepStrictEqual(countThread(byThread.get(thread) ?? []), counts)) wrong.threads.push(id)
      byThread.delete(thread)
    }
    // Messages whose thread has no row.
    for (const thread of byThread.keys()) wrong.threads.push(`number ${thread}`)
    onCounted(messages.size)
  }
  return wrong
}

/** As `threads/recount.ts`: messages outside Trash and Junk, or all messages if there are none outside. */
function countThread(messages: readonly CountedMessage[]): { messages: number; unread: number } {
  const outside = messages.filter(({ listed }) => listed === 1)
  const counted = outside.length > 0 ? outside : messages
  return { messages: counted.length, unread: counted.filter(({ seen }) => seen === 0).length }
}

function sum<T>(list: readonly T[], value: (item: T) => number): number {
  return list.reduce((total, item) => total + value(item), 0)
}
