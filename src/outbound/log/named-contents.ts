// The contents mails name that have not wholly left, in the order of their numbers: for a check of the whole file.

import type { Reader } from '../../db/db.ts'
import type { NamedContent } from '../../store/blobs.ts'

/** The next contents of mails after number `after` (0 at first), at most `limit`. */
export function mailContents(reader: Reader, after: number, limit: number): Promise<NamedContent[]> {
  return reader.all('SELECT n, blob AS hash FROM emails WHERE n > ? AND blob IS NOT NULL ORDER BY n LIMIT ?', [
    after,
    limit,
  ])
}

/** Reads the newest email and its deliveries whole. @throws Error of SQLite when their pages are damaged */
export async function readNewestEmail(reader: Reader): Promise<void> {
  await reader.all('SELECT * FROM emails e JOIN deliveries d ON d.email = e.n ORDER BY e.n DESC LIMIT 1')
}
