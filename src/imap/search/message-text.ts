// Substrings in the content of one message: its decoded header and text parts, read in pieces (SEARCH BODY, TEXT and rare HEADER fields).

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import { parseListedAddresses } from '../../mime/address-list.ts'
import { charsetStream } from '../../mime/charset-stream.ts'
import { parseZonedDate } from '../../mime/date.ts'
import { decodeHeader } from '../../mime/decode.ts'
import { foldedText } from '../../mime/header-keys.ts'
import { fieldText, headerText, readHeaders } from '../../mime/headers.ts'
import type { Part } from '../../mime/message.ts'
import { decodeStream } from '../../mime/transfer-stream.ts'
import { foldWord, tokensOf } from '../../store/search/words.ts'
import type { MessagePage } from '../fetch/message-content.ts'
import type { SearchKey } from '../grammar/search-keys.ts'

/** What a search key compares with. */
interface WantedText {
  value: string
  isFuzzy?: boolean
}

/** True when a field contains the string; `value` is its unfolded text, `folded` the search string as {@link foldedText}. */
export function fieldContains(value: string, folded: string): boolean {
  return folded === '' || foldedText(decodeHeader(value)).includes(folded)
}

/**
 * True when an address field contains the string: as written and decoded, or in the form `name <local@domain>` that mail
 * programs show.
 */
export function addressesContain(value: string, folded: string): boolean {
  if (fieldContains(value, folded)) return true
  return parseListedAddresses(value).some(({ name, mailbox, host }) => {
    const address = host === null ? (mailbox ?? '') : `${mailbox}@${host}`
    return foldedText(`${decodeHeader(name ?? '')} <${address}>`).includes(folded)
  })
}

/** True when each word of a search string begins a word of the text; in any order, without accents (FUZZY). */
export function hasWords(value: string, wanted: string): boolean {
  const words = tokensOf(wanted).map(foldWord)
  const known = tokensOf(decodeHeader(value)).map(foldWord)
  return words.every((word) => known.some((one) => one.startsWith(word)))
}

/** Whether a field matches a search string: as a substring, or by its words. */
export function fieldMatches(value: string, { value: wanted, isFuzzy }: WantedText): boolean {
  return fieldContains(value, foldedText(wanted)) || (isFuzzy === true && hasWords(value, wanted))
}

/** {@link fieldMatches} for fields with addresses. */
export function addressesMatch(value: string, { value: wanted, isFuzzy }: WantedText): boolean {
  return addressesContain(value, foldedText(wanted)) || (isFuzzy === true && hasWords(value, wanted))
}

/** The day a Date field names in its own zone, as the ms of that day's start in UTC; null without a readable date. */
export function sentDay(date: string | undefined): number | null {
  const zoned = parseZonedDate(date ?? '')
  if (zoned === null) return null
  const local = zoned.at + zoned.zoneMinutes * MINUTE_MS
  return local - (((local % DAY_MS) + DAY_MS) % DAY_MS)
}

/** SENTBEFORE, SENTON and SENTSINCE: `day` is the start of a day in UTC, ms. A message without a date matches none. */
export function matchesSentDay(date: string | undefined, relation: 'before' | 'on' | 'since', day: number): boolean {
  const sent = sentDay(date)
  if (sent === null) return false
  if (relation === 'before') return sent < day
  return relation === 'on' ? sent === day : sent >= day
}

/** Decoded bytes that are compared at once. */
const PIECE_BYTES = 256 * 1024
/** Characters of a text that may become one when it is folded. */
const OVERLAP_FACTOR = 4
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
  for (const { headerStart, bodyStart } of innerParts(root)) {
    const asked = open().filter((key) => key.kind === 'text' && key.scope === 'text')
    if (asked.length === 0) break
    const inner = await content.bytes(message, headerStart, Math.min(bodyStart, headerStart + PIECE_BYTES))
    for (const key of asked) if (inHeader(key, inner)) found.set(key, true)
  }
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
    return named.some((field) => fieldMatches(headerText([field], field.name) ?? '', key))
  }
  return fields.some((field) => {
    const text = fieldText(field, null)
    return fieldContains(`${field.name}: ${text}`, folded) || addressesContain(text, folded)
  })
}

/** Parts with a header of their own: TEXT looks at the header fields of all of them, BODY at none (RFC 9051 §6.4.4). */
function* innerParts(part: Part): Generator<Part> {
  for (const child of part.parts) {
    if (child.bodyStart > child.headerStart) yield child
    yield* innerParts(child)
  }
}

function isMessage({ type }: Part): boolean {
  return type.startsWith('message/')
}

/** Text parts, the parts of messages inside, and messages that are not read as such (message/partial, message/delivery-status). */
function* textParts(part: Part): Generator<Part> {
  if (part.type.startsWith('text/') || (isMessage(part) && part.parts.length === 0)) yield part
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
  // Strings across two pieces are found in their overlap; folding makes one character of several.
  const overlap = OVERLAP_FACTOR * Math.max(1, ...searched.map(({ folded }) => folded.length))
  const decoder = decodeStream(part.encoding)
  const charset = charsetStream(part.charset)
  const matched = new Set<ContentKey>()
  let rest = ''
  const compare = (text: string) => {
    const joined = rest + text
    const folded = foldedText(joined)
    for (const { key, folded: wanted } of searched) if (folded.includes(wanted)) matched.add(key)
    rest = joined.slice(-overlap)
  }
  for (let at = part.bodyStart; at < part.bodyEnd && matched.size < keys.length; at += PIECE_BYTES) {
    const bytes = await content.bytes(message, at, Math.min(at + PIECE_BYTES, part.bodyEnd))
    compare(charset.push(decoder === null ? bytes : decoder.push(bytes)))
    await new Promise((resolve) => setImmediate(resolve))
  }
  compare(charset.push(decoder?.end() ?? new Uint8Array(0)) + charset.end())
  return [...matched]
}
