// Rows of messages that integrity checks read: counted fields, and the content they refer to.

import type { Reader } from '../../db/db.ts'
import type { NamedContent } from '../content/blobs.ts'
import { numberRange } from '../rows/accounts-numbers.ts'

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
export function countedMessages(reader: Reader, account: number): Map<number, CountedMessage> {
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
export function attachmentBytes(reader: Reader): Map<number, number> {
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
