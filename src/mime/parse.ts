// Parses a message into the values the rest of the server uses, within fixed limits and in linear time.

import { HTML_MAX, htmlToText } from '../html/visible-text.ts'
import { ADDRESSES_MAX, parseAddressList } from './address.ts'
import { describeAttachments } from './attachments.ts'
import { type BodyText, type SortedParts, sortParts } from './bodies.ts'
import { parseDate } from './date.ts'
import { decodeHeader, decodeText, encodedBytes } from './decode.ts'
import { setDecodedSizes } from './decoded-size.ts'
import { headerKeys } from './header-keys.ts'
import { fieldText, type HeaderField, headerText } from './headers.ts'
import type { Address, ParsedMessage, Part } from './message.ts'
import { packHeaders } from './message-headers.ts'
import { previewOf } from './preview.ts'
import { messageIds } from './references.ts'
import { declaredCharset, readStructure } from './structure.ts'

/** Characters of a subject (RFC 5322 §2.1.1: longest line) and of text for the index. */
export const SUBJECT_MAX = 998
export const SEARCH_TEXT_MAX = 256 * 1024
/** Characters of a text that is kept with its part. */
const KEPT_TEXT_MAX = 64 * 1024
/** Bytes of a text part up to which it is checked for being blank. */
const STUB_MAX = 200

/**
 * Parses a message. Never throws: a message that exceeds a limit (see headers.ts, structure.ts, address.ts) is returned with
 * `parsed: false`, a `problem` and what could be read within the limits.
 */
export function parseMessage(bytes: Uint8Array): ParsedMessage {
  const { root, fields, problem } = readStructure(bytes)
  const addresses = readAddresses(fields)
  const bodies = sortParts(root)
  const content = readContent(bytes, bodies)
  const sizes = new Map(bodies.attachments.map((part, at) => [part, content.attachments[at]!.sizeBytes]))
  setDecodedSizes(bytes, root, sizes)
  const firstProblem = problem ?? addresses.problem ?? (fields.length === 0 ? 'The message has no header.' : null)
  return {
    parsed: firstProblem === null,
    problem: firstProblem,
    subject: cut(decodeHeader(headerText(fields, 'subject', declaredCharset(root)) ?? ''), SUBJECT_MAX),
    ...addresses.lists,
    messageId: messageIds(headerText(fields, 'message-id') ?? '')[0] ?? null,
    inReplyTo: messageIds(headerText(fields, 'in-reply-to') ?? ''),
    references: messageIds(headerText(fields, 'references') ?? ''),
    sentAt: parseDate(headerText(fields, 'date') ?? ''),
    ...content,
    structure: root,
    keptHeaders: packHeaders(bytes, fields),
    headerKeys: headerKeys(fields),
    textPart: isStub(bytes, bodies) ? null : (bodies.textPart?.id ?? null),
    htmlPart: bodies.htmlPart?.id ?? null,
    hasAttachments: content.attachments.some((attachment) => !attachment.inline),
  }
}

/** The byte range of a part that holds at least `characters` characters of its text, or all of it. */
export function byteRangeOf(
  { bodyStart, bodyEnd, encoding }: Part,
  characters: number,
): { start: number; end: number } {
  // Four bytes make a character in the widest charsets.
  return { start: bodyStart, end: Math.min(bodyEnd, bodyStart + encodedBytes(characters * 4, encoding)) }
}

/** Whole texts of parts, while the part is there: the index, the spam score and the search for links read the same ones. */
const keptTexts = new WeakMap<Part, string>()

/** The text of a part, at most `characters` of it, with LF line ends. */
export function partText(bytes: Uint8Array, part: Part, characters: number): string {
  const known = keptTexts.get(part)
  if (known !== undefined && known.length <= characters) return known
  const { start, end } = byteRangeOf(part, characters)
  const text = decodeText(bytes.subarray(start, end), part)
  if (text.length > characters) return cut(text, characters)
  if (end === part.bodyEnd && text.length <= KEPT_TEXT_MAX) keptTexts.set(part, text)
  return text
}

type Lists = Pick<ParsedMessage, 'from' | 'sender' | 'to' | 'cc' | 'bcc' | 'replyTo'>

/** Reads all fields of a name: two From fields are two authors for authentication and filters. */
function readAddresses(fields: readonly HeaderField[]): { lists: Lists; problem: string | null } {
  let problem: string | null = null
  const read = (name: string): Address[] => {
    const found: Address[] = []
    for (const field of fields) {
      if (field.name !== name || found.length > ADDRESSES_MAX) continue
      found.push(...parseAddressList(fieldText(field), ADDRESSES_MAX + 1 - found.length))
    }
    if (found.length > ADDRESSES_MAX) problem ??= `A header field names more than ${ADDRESSES_MAX} addresses.`
    return found.slice(0, ADDRESSES_MAX)
  }
  const lists = {
    from: read('from'),
    sender: read('sender')[0] ?? null,
    to: read('to'),
    cc: read('cc'),
    bcc: read('bcc'),
    replyTo: read('reply-to'),
  }
  return { lists, problem }
}

/** The body text for the index: the same as {@link ParsedMessage.searchText}, for a message whose structure is known. */
export function bodyText(bytes: Uint8Array, root: Part): string {
  return decodeTexts(bytes, sortParts(root).texts).join('\n')
}

function readContent(
  bytes: Uint8Array,
  bodies: SortedParts,
): Pick<ParsedMessage, 'preview' | 'searchText' | 'attachments'> {
  const needsHtml = bodies.attachments.some((part) => part.contentId !== null)
  const html = needsHtml && bodies.htmlPart ? partText(bytes, bodies.htmlPart, HTML_MAX) : ''
  const texts = decodeTexts(bytes, bodies.texts)
  return {
    preview: previewOf(texts.find((text) => text.trim() !== '') ?? ''),
    searchText: texts.join('\n'),
    attachments: describeAttachments(bytes, bodies.attachments, html),
  }
}

function decodeTexts(bytes: Uint8Array, bodyTexts: readonly BodyText[]): string[] {
  const texts: string[] = []
  let room = SEARCH_TEXT_MAX
  for (const bodyText of bodyTexts) {
    if (room <= 0) break
    const text = decodeBodyText(bytes, bodyText, room)
    texts.push(text)
    room -= text.length + 1
  }
  return texts
}

/** True for a blank text part beside the HTML, as some mailers write it: the HTML is displayed then. */
function isStub(bytes: Uint8Array, { textPart, htmlPart }: SortedParts): boolean {
  if (textPart === null || htmlPart === null || textPart.bodyEnd - textPart.bodyStart > STUB_MAX) return false
  return partText(bytes, textPart, STUB_MAX).trim() === ''
}

/** The plain form, or the HTML form where the plain one is missing or blank. */
function decodeBodyText(bytes: Uint8Array, { plain, html }: BodyText, room: number): string {
  const text = plain ? partText(bytes, plain, room) : ''
  if (html === null || text.trim() !== '') return text
  return cut(htmlToText(partText(bytes, html, HTML_MAX)), room)
}

/** At most this many UTF-16 code units, without half a surrogate pair at the end. */
function cut(text: string, characters: number): string {
  return text.length <= characters ? text : text.slice(0, characters).replace(/[\ud800-\udbff]$/, '')
}
