// What of messages shows why a search found them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../db/db.ts'
import { HTML_MAX, htmlToText } from '../../html/visible-text.ts'
import { type BodyText, sortParts } from '../../mime/bodies.ts'
import type { Part } from '../../mime/message.ts'
import { byteRangeOf, partText, SEARCH_TEXT_MAX } from '../../mime/parse.ts'
import type { Blobs } from '../blobs.ts'
import type { Account } from '../records.ts'
import { firstExcerpt, type HighlightedText, type SearchTerms, searchTermsIn, wholeExcerpt } from '../search/found.ts'
import type { Term } from '../search/terms.ts'

/** Bytes of bodies that are read for one request; what would come behind has no place shown in its text. */
export const LOOK_BYTES = 16 * 1024 * 1024

/** The subject, and the place in the text with the first hit; null where there is none. */
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

/** Of these messages (at most a few hundred) in their order; ids that are none of the account's are left out. */
export async function snippetsOf(
  { reader, blobs }: { reader: Reader; blobs: Pick<Blobs, 'bytes'> },
  account: Account,
  ids: readonly string[],
  term: Term,
): Promise<Snippet[]> {
  if (ids.length === 0) return []
  // The plus: of many ids SQLite would rather look at all messages of the account.
  const rows = await reader.all<Row>(
    `SELECT id, subject, blob, structure FROM messages WHERE +account = ? AND id IN (${ids.map(() => '?').join(', ')})`,
    [account.n, ...ids],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  const inSubject = searchTermsIn(term, 'subject')
  const inBody = searchTermsIn(term, 'body')
  const looking = { blobs, bytes: LOOK_BYTES }
  const snippets: Snippet[] = []
  for (const id of ids) {
    const row = byId.get(id)
    if (row === undefined) continue
    snippets.push({ id, subject: wholeExcerpt(row.subject, inSubject), body: await bodyExcerpt(looking, row, inBody) })
    // Texts are read on this thread: others have their turn in between.
    await nextTurn()
  }
  return snippets
}

/** Where bodies are read, and how many bytes still may be. */
interface Looking {
  blobs: Pick<Blobs, 'bytes'>
  bytes: number
}

/** Looks as far as the index does, and no further than the first passage with a hit. */
async function bodyExcerpt(
  looking: Looking,
  row: Row,
  sought: readonly SearchTerms[],
): Promise<HighlightedText | null> {
  const { root } = JSON.parse(row.structure) as { root: Part | null }
  if (sought.length === 0 || root === null) return null
  let room = SEARCH_TEXT_MAX
  for (const passage of sortParts(root).texts) {
    if (room <= 0 || looking.bytes <= 0) break
    const text = await passageText(looking, row.blob, passage, room)
    const excerpt = await firstExcerpt(text, sought)
    if (excerpt !== null) return excerpt
    room -= text.length + 1
  }
  return null
}

/** As the index was told it: the plain form, or the HTML one where there is no plain one or it is blank. */
async function passageText(
  looking: Looking,
  blob: Uint8Array,
  { plain, html }: BodyText,
  room: number,
): Promise<string> {
  const read = async (part: Part, characters: number) => {
    const { start, end } = byteRangeOf(part, characters)
    looking.bytes -= end - start
    const bytes = await looking.blobs.bytes(blob, start, end)
    return partText(bytes, { ...part, bodyStart: 0, bodyEnd: bytes.length }, characters)
  }
  const text = plain ? await read(plain, room) : ''
  if (html === null || text.trim() !== '') return text
  return htmlToText(await read(html, HTML_MAX)).slice(0, room)
}
