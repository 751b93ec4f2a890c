// A mail read once: bytes in, everything the house wants to know of it out, in bounds and in linear time.

import { HTML_MAX, htmlToText } from '../html/visible-text.ts'
import { ADDRESSES_MAX, parseAddressList } from './address.ts'
import { describeAttachments } from './attachments.ts'
import { type Bodies, type Passage, sortParts } from './bodies.ts'
import { parseDate } from './date.ts'
import { decodeHeader, decodeText, encodedBytes } from './decode.ts'
import { fieldText, type HeaderField, headerText } from './headers.ts'
import type { Address, ParsedMail, Part } from './message.ts'
import { previewOf } from './preview.ts'
import { messageIds } from './references.ts'
import { declaredCharset, readStructure } from './structure.ts'

/** Characters of a subject (RFC 5322 2.1.1: no line is longer) and of text kept for the index. */
export const SUBJECT_MAX = 998
export const SEARCH_TEXT_MAX = 256 * 1024
/** Bytes of a text part that may be empty but for white space. */
const STUB_MAX = 200

/**
 * Reads a mail. Never throws and never hangs: a mail that breaks a bound (see headers.ts, structure.ts, address.ts) comes
 * back with `parsed: false`, a `problem` and what could be read within the bounds.
 */
export function parseMail(bytes: Uint8Array): ParsedMail {
  const { root, fields, problem } = readStructure(bytes)
  const addresses = readAddresses(fields)
  const bodies = sortParts(root)
  const content = readContent(bytes, bodies)
  const firstProblem = problem ?? addresses.problem ?? (fields.length === 0 ? 'The mail has no header.' : null)
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
    textPart: isStub(bytes, bodies) ? null : (bodies.textPart?.id ?? null),
    htmlPart: bodies.htmlPart?.id ?? null,
    hasAttachments: content.attachments.some((attachment) => !attachment.inline),
  }
}

/** The bytes of a part that hold at least so many characters of its text, where it has as many. */
export function stretchOf({ bodyStart, bodyEnd, encoding }: Part, characters: number): { start: number; end: number } {
  // Four bytes make a character in the widest charsets.
  return { start: bodyStart, end: Math.min(bodyEnd, bodyStart + encodedBytes(characters * 4, encoding)) }
}

/** The text of a part as far as it is looked at: at most `characters` of it, LF line ends. */
export function partText(bytes: Uint8Array, part: Part, characters: number): string {
  const { start, end } = stretchOf(part, characters)
  const text = decodeText(bytes.subarray(start, end), part)
  return text.length > characters ? cut(text, characters) : text
}

type Lists = Pick<ParsedMail, 'from' | 'sender' | 'to' | 'cc' | 'bcc' | 'replyTo'>

/** All fields of a name count: two From fields are two senders to whoever judges the mail. */
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

/** What the index keeps of the body: the same as {@link ParsedMail.searchText}, for a mail whose structure is known. */
export function bodyText(bytes: Uint8Array, root: Part): string {
  return passageTexts(bytes, sortParts(root).passages).join('\n')
}

function readContent(bytes: Uint8Array, bodies: Bodies): Pick<ParsedMail, 'preview' | 'searchText' | 'attachments'> {
  const needsHtml = bodies.attachments.some((part) => part.contentId !== null)
  const html = needsHtml && bodies.htmlPart ? partText(bytes, bodies.htmlPart, HTML_MAX) : ''
  const texts = passageTexts(bytes, bodies.passages)
  return {
    preview: previewOf(texts.find((text) => text.trim() !== '') ?? ''),
    searchText: texts.join('\n'),
    attachments: describeAttachments(bytes, bodies.attachments, html),
  }
}

function passageTexts(bytes: Uint8Array, passages: readonly Passage[]): string[] {
  const texts: string[] = []
  let room = SEARCH_TEXT_MAX
  for (const passage of passages) {
    if (room <= 0) break
    const text = passageText(bytes, passage, room)
    texts.push(text)
    room -= text.length + 1
  }
  return texts
}

/** Some mailers put an empty text beside the HTML: then the HTML is what there is to read. */
function isStub(bytes: Uint8Array, { textPart, htmlPart }: Bodies): boolean {
  if (textPart === null || htmlPart === null || textPart.bodyEnd - textPart.bodyStart > STUB_MAX) return false
  return partText(bytes, textPart, STUB_MAX).trim() === ''
}

/** The plain form, or the HTML one where there is no plain one or it is blank. */
function passageText(bytes: Uint8Array, { plain, html }: Passage, room: number): string {
  const text = plain ? partText(bytes, plain, room) : ''
  if (html === null || text.trim() !== '') return text
  return cut(htmlToText(partText(bytes, html, HTML_MAX)), room)
}

/** At most this many characters (UTF-16), no half one at the end. */
function cut(text: string, characters: number): string {
  return text.length <= characters ? text : text.slice(0, characters).replace(/[\ud800-\udbff]$/, '')
}
