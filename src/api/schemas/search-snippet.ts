// Search snippets: HTML that contains only text and `<mark>`.

import { Type } from 'typebox'
import { Id, Nullable } from '../../http/schema.ts'
import { NO_WIDTH } from '../../mime/preview.ts'
import type { Snippet } from '../../store/messages/snippets.ts'
import type { HighlightedText } from '../../store/search/excerpts.ts'
import { record } from './record.ts'

/** Bytes (UTF-8) of a preview, markup included. */
export const PREVIEW_BYTES = 255
const LEAD_BYTES = 60
const OPEN = '<mark>'
const CLOSE = '</mark>'

const SAFE: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export const SearchSnippet = record('SearchSnippet', 'Where a search matched a message.', {
  message_id: Id('message'),
  subject: Nullable(Type.String({ description: 'HTML: escaped, with matches in `<mark>`. Null without a match.' })),
  preview: Nullable(
    Type.String({ description: 'As above, for the text around the first match; at most 255 bytes of UTF-8 in all.' }),
  ),
})

export function presentSnippet({ id, subject, body }: Snippet) {
  return { message_id: id, subject: subject && marked(subject), preview: body && markedAround(body, PREVIEW_BYTES) }
}

/** One character in HTML, and whether it belongs to a match. */
interface Sign {
  html: string
  hit: boolean
}

/** The whole excerpt. */
export function marked(excerpt: HighlightedText): string {
  return written(signsOf(excerpt))
}

/** As much of the text around the first match as fits into so many bytes: whole characters, closed marks. */
export function markedAround(excerpt: HighlightedText, bytes: number): string {
  const signs = signsOf(excerpt)
  const first = Math.max(
    0,
    signs.findIndex(({ hit }) => hit),
  )
  const from = leadOf(signs, first)
  let left = bytes
  let to = from
  for (let inMark = false; to < signs.length; to++) {
    const { html, hit } = signs[to]!
    left -= Buffer.byteLength(html) + (hit && !inMark ? OPEN.length + CLOSE.length : 0)
    if (left < 0) break
    inMark = hit
  }
  return written(signs.slice(from, to)).trimEnd()
}

/** Start of the words shown before a match. */
function leadOf(signs: readonly Sign[], first: number): number {
  let from = first
  for (let left = LEAD_BYTES; from > 0; from--) {
    left -= Buffer.byteLength(signs[from - 1]!.html)
    if (left < 0) break
  }
  if (from === 0) return 0
  // Half a word at the start has no meaning.
  const space = signs.findIndex(({ html }, at) => at >= from && at < first && html === ' ')
  return space < 0 ? from : space + 1
}

/** On one line, without zero-width and control characters: white space becomes a single space. */
function signsOf({ text, hits }: HighlightedText): Sign[] {
  const signs: Sign[] = []
  let at = 0
  let next = 0
  for (const character of text.toWellFormed()) {
    while (next < hits.length && hits[next]!.end <= at) next++
    const hit = next < hits.length && hits[next]!.start <= at
    at += character.length
    const isSpace = /[\s\x00-\x1f\x7f-\x9f]/.test(character)
    if (isSpace && (signs.length === 0 || signs.at(-1)!.html === ' ')) continue
    if (isSpace) signs.push({ html: ' ', hit })
    else if (!NO_WIDTH.test(character)) signs.push({ html: SAFE[character] ?? character, hit })
  }
  return signs
}

function written(signs: readonly Sign[]): string {
  let html = ''
  for (const [at, sign] of signs.entries()) {
    if (sign.hit && signs[at - 1]?.hit !== true) html += OPEN
    html += sign.html
    if (sign.hit && signs[at + 1]?.hit !== true) html += CLOSE
  }
  return html
}
