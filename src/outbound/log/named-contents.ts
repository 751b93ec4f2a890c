// The contents referenced by messages with open deliveries, ordered by key, for the check of the database file.

import type { Reader } from '../../db/db.ts'
import type { NamedContent } from '../../store/content/blobs.ts'
import type { Store } from '../../store/store.ts'
import type { Emails } from './emails.ts'
import type { KeptContents } from './kept-contents.ts'

/** The next contents of messages after key `after` (0 at first), at most `limit`. */
export function mailContents(reader: Reader, after: number, limit: number): NamedContent[] {
  return reader.all('SELECT n, blob AS hash FROM emails WHERE n > ? AND blob IS NOT NULL ORDER BY n LIMIT ?', [
    after,
    limit,
  ])
}

/** Ids of messages with open deliveries and some content. */
export function emailsWithContent(reader: Reader, hash: Uint8Array, limit: number): string[] {
  const rows = reader.all<{ id: string }>('SELECT id FROM emails WHERE blob = ? ORDER BY n LIMIT ?', [hash, limit])
  return rows.map(({ id }) => id)
}

/** Reads all columns of the newest message and its deliveries. @throws Error of SQLite when their pages are damaged */
export function readNewestEmail(reader: Reader): void {
  reader.all('SELECT * FROM emails e JOIN deliveries d ON d.email = e.n ORDER BY e.n DESC LIMIT 1')
}

/** The hashes among `hashes` that a row refers to, as hex. */
export async function namedBlobs(
  { read: { messages }, edit: { removed, uploads, drafts } }: Pick<Store, 'read' | 'edit'>,
  { emails, keptContents }: { emails: Pick<Emails, 'namedBlobs'>; keptContents: Pick<KeptContents, 'namedBlobs'> },
  hashes: Uint8Array[],
): Promise<Set<string>> {
  const named = await Promise.all(
    [messages, removed, uploads, drafts, emails, keptContents].map((part) => part.namedBlobs(hashes)),
  )
  return named.reduce((all, some) => all.union(some))
}
