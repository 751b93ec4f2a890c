// The contents all messages name, in the order of their numbers: for a check of the whole file.

import type { Reader } from '../../db/db.ts'
import type { NamedContent } from '../blobs.ts'

/** The next contents of messages after number `after` (0 at first), at most `limit`. */
export function messageContents(reader: Reader, after: number, limit: number): Promise<NamedContent[]> {
  return reader.all('SELECT n, blob AS hash FROM messages WHERE n > ? ORDER BY n LIMIT ?', [after, limit])
}
