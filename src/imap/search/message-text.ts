// Substrings in the content of one message: its decoded header and text parts, read in pieces (SEARCH BODY, TEXT and rare HEADER fields).

import { decodeCharset } from '../../mime/charset.ts'
import { fieldText, headerText, readHeaders } from '../../mime/headers.ts'
import type { Part } from '../../mime/message.ts'
import { decodeStream } from '../../mime/transfer-stream.ts'
import type { SearchKey } from '../grammar/search-keys.ts'
import type { MessagePage } from '../message-content.ts'
import { addressesContain, fieldContains, foldedText } from './text.ts'

/** Decoded bytes that are compared at once. */
const PIECE_BYTES = 256 * 1024
/** Encodings whose content can be read. */
const READABLE = new Set(['7bit', '8bit', 'binary', 'base64', 'quoted-printable'])

export type ContentKey = Extract<SearchKey, { kind: 'text' | 'header' }>

/** Answers keys about one message; each part is read once. */
export async function matchContent(
  content: MessagePage,
  message: number,
  keys: readonly ContentKey[],
): Promise<Map<SearchKey, boolean>> {
  const found = new Map<SearchKey, boolean>(keys.map((key) => [key, false]))
  const root = await content.structure(message)
  if (root === undefined) return found
  const header = await content.bytes(message, root.headerStart, root.bodyStart)
  for (const key of keys) if (key.kind === 'header' || key.scope === 'text') found.set(key, inHeader(key, header))
  const open = () => keys.filter((key) => key.kind === 'text' && found.get(key) === false)
  for (const part of textParts(root)) {
    if (open().length === 0) break
    for (const key of await inPart(content, message, part, open())) found.set(key, true)
  }
  return found
}

function inHeader(key: ContentKey, header: Uint8Array): boolean {
  const { fields } = readHeaders(header)
  const folded = foldedText(key.value)
  if (key.kind === 'header') {
    const named = fields.filter(({ name }) => name === key.name.toLowerCase())
    return named.some((field) => fieldContains(headerText([field], field.name) ?? '', folded))
  }
  return fields.some((field) => {
    const text = fieldText(field, null)
    return fieldContains(`${field.name}: ${text}`, folded) || addressesContain(text, folded)
  })
}

/** Text parts, and the parts of messages inside. */
function* textParts(part: Part): Generator<Part> {
  if (part.type.startsWith('text/')) yield part
  for (const child of part.parts) yield* textParts(child)
}

async function inPart(
  content: MessagePage,
  message: number,
  part: Part,
  keys: readonly ContentKey[],
): Promise<ContentKey[]> {
  if (!READABLE.has(part.encoding)) return []
  const searched = keys.map((key) => ({ key, folded: foldedText(key.value) }))
  // Strings across two pieces are found in their overlap.
  const overlap = Math.max(...searched.map(({ folded }) => folded.length))
  const decoder = decodeStream(part.encoding)
  const matched = new Set<ContentKey>()
  let rest = ''
  const compare = (bytes: Uint8Array) => {
    const text = rest + foldedText(decodeCharset(bytes, part.charset))
    for (const { key, folded } of searched) if (text.includes(folded)) matched.add(key)
    rest = text.slice(-overlap)
  }
  for (let at = part.bodyStart; at < part.bodyEnd && matched.size < keys.length; at += PIECE_BYTES) {
    const bytes = await content.bytes(message, at, Math.min(at + PIECE_BYTES, part.bodyEnd))
    compare(decoder === null ? bytes : decoder.push(bytes))
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (decoder !== null) compare(decoder.end())
  return [...matched]
}
