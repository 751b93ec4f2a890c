// Search snippets: the subject and an excerpt of the body with the search terms highlighted.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { HTML_MAX, htmlToText } from '../../html/visible-text.ts'
import { type BodyText, sortParts } from '../../mime/bodies.ts'
import type { Part } from '../../mime/message.ts'
import { byteRangeOf, partText, SEARCH_TEXT_MAX } from '../../mime/parse.ts'
import type { Blobs } from '../content/blobs.ts'
import { DamagedContent } from '../content/damaged-content.ts'
import type { Account } from '../rows/records.ts'
import {
  firstExcerpt,
  type HighlightedText,
  highlightAll,
  type SearchTerms,
  searchTermsIn,
} from '../search/excerpts.ts'
import type { Term } from '../search/terms.ts'

/** Maximum bytes of bodies read per request; messages beyond it get no body excerpt. */
export const BODY_BYTES_PER_REQUEST = 16 * 1024 * 1024

/** The subject, and an excerpt of the body around the first hit; null if there is none. */
export interface Snippet {
  id: string
  subject: HighlightedText | null
  body: HighlightedText | null
}

interface Row {
  id: string
  subject: string
  blob: Uint8Array
  structure: string
}

/** Snippets of messages (at most a few hundred) in the given order; unknown ids are left out. */
export async function snippetsOf(
  { reader, blobs }: { reader: Reader; blobs: Pick<Blobs, 'bytes'> },
  account: Account,
  ids: readonly string[],
  term: Term,
): Promise<Snippet[]> {
  if (ids.length === 0) return []
  // The plus: for many ids SQLite would otherwise read all messages of the account.
  const rows = reader.all<Row>(
    `SELECT id, subject, blob, structure FROM messages WHERE +account = ? AND id IN (${placeholders(ids)})`,
    [account.n, ...ids],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  const inSubject = searchTermsIn(term, 'subject')
  const inBody = searchTermsIn(term, 'body')
  const bodyReader = { blobs, bytes: BODY_BYTES_PER_REQUEST }
  const snippets: Snippet[] = []
  for (const id of ids) {
    const row = byId.get(id)
    if (row === undefined) continue
    // Damaged content has no excerpt; those of other messages are shown.
    const body = await bodyExcerpt(bodyReader, row, inBody).catch((error: unknown) => {
      if (error instanceof DamagedContent) return null
      throw error
    })
    snippets.push({ id, subject: highlightAll(row.subject, inSubject), body })
    // Texts are processed on this thread: yield to other work in between.
    await nextTurn()
  }
  return snippets
}

/** The blob store, and how many bytes may still be read. */
interface BodyReader {
  blobs: Pick<Blobs, 'bytes'>
  bytes: number
}

/** Searches as much of the body as is indexed, up to the first text part with a hit. */
async function bodyExcerpt(
  bodyReader: BodyReader,
  row: Row,
  terms: readonly SearchTerms[],
): Promise<HighlightedText | null> {
  const { root } = JSON.parse(row.structure) as { root: Part | null }
  if (terms.length === 0 || root === null) return null
  let remaining = SEARCH_TEXT_MAX
  for (const part of sortParts(root).texts) {
    if (remaining <= 0 || bodyReader.bytes <= 0) break
    const text = await bodyTextOf(bodyReader, row.blob, part, remaining)
    const excerpt = await firstExcerpt(text, terms)
    if (excerpt !== null) return excerpt
    remaining -= text.length + 1
  }
  return null
}

/** The text as it was indexed: the plain text, or that of the HTML part if there is none or it is blank. */
async function bodyTextOf(
  bodyReader: BodyReader,
  blob: Uint8Array,
  { plain, html }: BodyText,
  remaining: number,
): Promise<string> {
  const read = async (part: Part, characters: number) => {
    const { start, end } = byteRangeOf(part, characters)
    bodyReader.bytes -= end - start
    const bytes = await bodyReader.blobs.bytes(blob, start, end)
    return partText(bytes, { ...part, bodyStart: 0, bodyEnd: bytes.length }, characters)
  }
  const text = plain ? await read(plain, remaining) : ''
  if (html === null || text.trim() !== '') return text
  return htmlToText(await read(html, HTML_MAX)).slice(0, remaining)
}
