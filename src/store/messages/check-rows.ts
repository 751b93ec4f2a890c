// Rows of messages that integrity checks read: counted fields, and the content they refer to.

import type { Reader } from '../../db/db.ts'
import type { NamedContent } from '../blobs.ts'
import { numberRange } from './numbers.ts'

/** The fields of a message that are counted. */
export interface CountedMessage {
  n: number
  thread: number
  sizeBytes: number
  listed: number
  seen: number
}

const ROWS_PER_QUERY = 5000

/** All messages of an account, by number. */
export async function countedMessages(reader: Reader, account: number): Promise<Map<number, CountedMessage>> {
  const { low, high } = numberRange(account)
  const messages = new Map<number, CountedMessage>()
  for (let after = low - 1; ; ) {
    const rows = await reader.all<CountedMessage>(
      `SELECT n, thread, size_bytes AS sizeBytes, listed, seen FROM messages WHERE n > ? AND n <= ? ORDER BY n LIMIT ?`,
      [after, high, ROWS_PER_QUERY],
    )
    for (const row of rows) messages.set(row.n, row)
    if (rows.length < ROWS_PER_QUERY) return messages
    after = rows.at(-1)!.n
  }
}

/** Decoded bytes of all attachments, by account. */
export async function attachmentBytes(reader: Reader): Promise<Map<number, number>> {
  const rows = await reader.all<{ account: number; bytes: number }>(
    'SELECT account, sum(size_bytes) AS bytes FROM attachments GROUP BY account',
  )
  return new Map(rows.map(({ account, bytes }) => [account, bytes]))
}

const NEWEST_MAX = 5

/** The next contents of messages after number `after` (0 at first), at most `limit`. */
export function messageContents(reader: Reader, after: number, limit: number): Promise<NamedContent[]> {
  return reader.all('SELECT n, blob AS hash FROM messages WHERE n > ? ORDER BY n LIMIT ?', [after, limit])
}

/** The contents of the newest messages of the mailboxes that received one most recently. */
export async function newestContents(reader: Reader): Promise<Uint8Array[]> {
  const rows = await reader.all<{ hash: Uint8Array }>(
    `SELECT DISTINCT blob AS hash FROM messages WHERE n IN (SELECT max(n) FROM messages GROUP BY account)
     ORDER BY created_at DESC LIMIT ?`,
    [NEWEST_MAX],
  )
  return rows.map(({ hash }) => hash)
}

/** Reads all columns of the newest message. @throws Error of SQLite if their pages are damaged */
export async function readNewestMessage(reader: Reader): Promise<void> {
  await reader.all('SELECT * FROM messages ORDER BY n DESC LIMIT 1')
}
