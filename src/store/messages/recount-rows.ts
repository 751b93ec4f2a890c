// What a recount reads of messages.

import type { Reader } from '../../db/db.ts'
import { numberRange } from './numbers.ts'

/** What counts of a message. */
export interface CountedMessage {
  n: number
  thread: number
  sizeBytes: number
  listed: number
  seen: number
}

const ROWS_AT_ONCE = 5000

/** All messages of an account by their key. */
export async function countedMessages(reader: Reader, account: number): Promise<Map<number, CountedMessage>> {
  const { low, high } = numberRange(account)
  const messages = new Map<number, CountedMessage>()
  for (let after = low - 1; ; ) {
    const rows = await reader.all<CountedMessage>(
      `SELECT n, thread, size_bytes AS sizeBytes, listed, seen FROM messages WHERE n > ? AND n <= ? ORDER BY n LIMIT ?`,
      [after, high, ROWS_AT_ONCE],
    )
    for (const row of rows) messages.set(row.n, row)
    if (rows.length < ROWS_AT_ONCE) return messages
    after = rows.at(-1)!.n
  }
}

/** Bytes of all files in messages, by account. */
export async function attachmentBytes(reader: Reader): Promise<Map<number, number>> {
  const rows = await reader.all<{ account: number; bytes: number }>(
    'SELECT account, sum(size_bytes) AS bytes FROM attachments GROUP BY account',
  )
  return new Map(rows.map(({ account, bytes }) => [account, bytes]))
}
