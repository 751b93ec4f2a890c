// Collects facts about a message's form for the spam score (spam/facts/sender.ts), without scoring them.

import { htmlLinks, isMismatched, isSuspect, type MessageLink, textLinks } from '../html/links.ts'
import { HTML_MAX } from '../html/visible-text.ts'
import { fieldText, type HeaderField, headerText, readHeaders, SINGLE_FIELDS } from './headers.ts'
import type { MessageTraits, ParsedMessage } from './message.ts'
import { partText } from './parse.ts'
import { findPart } from './structure.ts'

/** Suspect hosts that are returned. */
export const SUSPECT_LINKS_MAX = 20
/** Least number of letters; a shorter subject in capitals ("RE: FYI") is not significant. */
const CAPITALS_MIN = 10

/**
 * @param receivedAt ms. Our own Received fields are counted too. Linear time, never throws.
 * @param fields of the message, where they are known
 */
export function messageTraits(
  bytes: Uint8Array,
  message: ParsedMessage,
  receivedAt: number,
  fields: readonly HeaderField[] = readHeaders(bytes).fields,
): MessageTraits {
  const count = (name: string): number => fields.filter((field) => field.name === name).length
  const links = linksOf(bytes, message)
  return {
    fromFields: count('from'),
    fromAddresses: message.from.filter((address) => address.email !== '').length,
    hasDate: count('date') > 0,
    hasMessageId: message.messageId !== null,
    dateSkewMs: message.sentAt === null ? null : message.sentAt - receivedAt,
    receivedCount: count('received'),
    repeatedFields: SINGLE_FIELDS.filter((name) => count(name) > 1),
    subjectAllCaps: isAllCaps(message.subject),
    suspectLinks: [...new Set(links.map((link) => link.host).filter(isSuspect))].slice(0, SUSPECT_LINKS_MAX),
    htmlOnly: message.htmlPart !== null && message.textPart === null && message.searchText.trim() === '',
    mismatchedLinks: links.filter(isMismatched).length,
    isList: isList(fields),
    autoSubmitted: isAutoSubmitted(fields),
    wantsNoAnswer: wantsNoAnswer(fields),
  }
}

function linksOf(bytes: Uint8Array, message: ParsedMessage): MessageLink[] {
  const html =
    message.structure && message.htmlPart !== null ? findPart(message.structure, message.htmlPart) : undefined
  return html ? htmlLinks(partText(bytes, html, HTML_MAX)) : textLinks(message.searchText)
}

function isAllCaps(subject: string): boolean {
  const letters = subject.replace(/\P{L}/gu, '')
  return letters.length >= CAPITALS_MIN && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
}

/** RFC 2919, RFC 2369, and the older Precedence field. */
function isList(fields: readonly HeaderField[]): boolean {
  const named = fields.some(({ name }) => name === 'list-id' || name === 'list-post' || name === 'list-unsubscribe')
  return named || precedence(fields) === 'list'
}

/** RFC 3834 §5 ("no" means sent by a person), and the older fields of auto-responders. */
function isAutoSubmitted(fields: readonly HeaderField[]): boolean {
  const field = fields.find(({ name }) => name === 'auto-submitted')
  if (field) return !/^\s*no\b/i.test(fieldText(field))
  return precedence(fields) === 'auto_reply' || fields.some(({ name }) => /^x-auto-?(?:reply|respond)$/.test(name))
}

/** RFC 3834 2, RFC 5230 4.6, and what Exchange calls it ([MS-OXCMAIL] 2.2.3.2.14). */
function wantsNoAnswer(fields: readonly HeaderField[]): boolean {
  if (fields.some(({ name }) => name.startsWith('list-'))) return true
  if (/^(?:bulk|junk|list|auto_reply)\b/.test(precedence(fields))) return true
  if (/\b(?:all|oof|autoreply)\b/i.test(headerText(fields, 'x-auto-response-suppress') ?? '')) return true
  return /^\s*multipart\/report\b/i.test(headerText(fields, 'content-type') ?? '')
}

function precedence(fields: readonly HeaderField[]): string {
  return (headerText(fields, 'precedence') ?? '').toLowerCase()
}
