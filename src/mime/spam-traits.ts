// Facts about a mail's form that a spam score is made of: each is observed here, none is judged.

import { htmlLinks, isMismatched, isSuspect, type Link, textLinks } from '../html/links.ts'
import { HTML_MAX } from '../html/visible-text.ts'
import { fieldText, type HeaderField, headerText, readHeaders, SINGLE_FIELDS } from './headers.ts'
import type { MailTraits, ParsedMail } from './message.ts'
import { partText } from './parse.ts'
import { findPart } from './structure.ts'

/** Suspect hosts that are named. */
export const SUSPECT_LINKS_MAX = 20
/** A shorter subject in capitals ("RE: FYI") says nothing. Letters. */
const CAPITALS_MIN = 10

/** Observes the mail; `receivedAt` in ms. Received fields of our own count too. Linear, never throws. */
export function mailTraits(bytes: Uint8Array, mail: ParsedMail, receivedAt: number): MailTraits {
  const { fields } = readHeaders(bytes)
  const count = (name: string): number => fields.filter((field) => field.name === name).length
  const links = linksOf(bytes, mail)
  return {
    fromFields: count('from'),
    fromAddresses: mail.from.filter((address) => address.email !== '').length,
    hasDate: count('date') > 0,
    hasMessageId: mail.messageId !== null,
    dateSkewMs: mail.sentAt === null ? null : mail.sentAt - receivedAt,
    receivedCount: count('received'),
    repeatedFields: SINGLE_FIELDS.filter((name) => count(name) > 1),
    subjectAllCaps: isAllCaps(mail.subject),
    suspectLinks: [...new Set(links.map((link) => link.host).filter(isSuspect))].slice(0, SUSPECT_LINKS_MAX),
    htmlOnly: mail.htmlPart !== null && mail.textPart === null && mail.searchText.trim() === '',
    mismatchedLinks: links.filter(isMismatched).length,
    isList: isList(fields),
    autoSubmitted: isAutoSubmitted(fields),
    wantsNoAnswer: wantsNoAnswer(fields),
  }
}

function linksOf(bytes: Uint8Array, mail: ParsedMail): Link[] {
  const html = mail.structure && mail.htmlPart !== null ? findPart(mail.structure, mail.htmlPart) : undefined
  return html ? htmlLinks(partText(bytes, html, HTML_MAX)) : textLinks(mail.searchText)
}

function isAllCaps(subject: string): boolean {
  const letters = subject.replace(/\P{L}/gu, '')
  return letters.length >= CAPITALS_MIN && letters === letters.toUpperCase() && letters !== letters.toLowerCase()
}

/** RFC 2919, RFC 2369, and the old way to say it. */
function isList(fields: readonly HeaderField[]): boolean {
  const named = fields.some(({ name }) => name === 'list-id' || name === 'list-post' || name === 'list-unsubscribe')
  return named || precedence(fields) === 'list'
}

/** RFC 3834 5 ("no" is what a person's mailer says), and what answering machines said before it. */
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
