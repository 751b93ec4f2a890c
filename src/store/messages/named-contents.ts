// The contents all messages name, in the order of their numbers: for a check of the whole file.

import type { Reader } from '../../db/db.ts'
import type { NamedContent } from '../blobs.ts'

const NEWEST = 5

/** The next contents of messages after number `after` (0 at first), at most `limit`. */
export function messageContents(reader: Reader, after: number, limit: number): Promise<NamedContent[]> {
  return reader.all('SELECT n, blob AS hash FROM messages WHERE n > ? ORDER BY n LIMIT ?', [after, limit])
}

/** The contents of the newest message of each of the mailboxes that got one last. */
export async function newestContents(reader: Reader): Promise<Uint8Array[]> {
  const rows = await reader.all<{ hash: Uint8Array }>(
    `SELECT DISTINCT blob AS hash FROM messages WHERE n IN (SELECT max(n) FROM messages GROUP BY account)
     ORDER BY created_at DESC LIMIT ?`,
    [NEWEST],
  )
  return rows.map(({ hash }) => hash)
}

/** Reads the newest message whole. @throws Error of SQLite when its pages are damaged */
export async function readNewestMessage(reader: Reader): Promise<void> {
  await reader.all('SELECT * FROM messages ORDER BY n DESC LIMIT 1')
}
