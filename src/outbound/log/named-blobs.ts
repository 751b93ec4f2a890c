// The content that rows refer to, of all parts that store content.

import type { Store } from '../../store/store.ts'
import type { Emails } from './emails.ts'
import type { KeptContents } from './kept-contents.ts'

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
