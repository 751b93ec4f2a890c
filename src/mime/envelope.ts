// The header fields of IMAP's ENVELOPE (RFC 9051 7.5.2) as unfolded text, encoded words included.

import { fieldText, type HeaderField, headerText, unfolded } from './headers.ts'
import { FieldFinder, type KeptHeaders } from './message-headers.ts'
import { parseStructured } from './parameters.ts'

/** Characters kept of one field: an address list beyond is cut. */
export const ENVELOPE_FIELD_MAX = 16 * 1024

/** Unfolded text of each field, raw 8-bit text decoded; absent for a missing field. */
export interface EnvelopeFields {
  date?: string
  subject?: string
  from?: string
  sender?: string
  replyTo?: string
  to?: string
  cc?: string
  bcc?: string
  inReplyTo?: string
  messageId?: string
}

const MEMBERS = new Map<string, keyof EnvelopeFields>([
  ...(['date', 'subject', 'from', 'sender', 'to', 'cc', 'bcc'] as const).map((name) => [name, name] as const),
  ['reply-to', 'replyTo'],
  ['in-reply-to', 'inReplyTo'],
  ['message-id', 'messageId'],
])

/** Fields whose repetitions are one list, as in the API. */
const LISTS = new Set<string>(['from', 'sender', 'replyTo', 'to', 'cc', 'bcc'])

/**
 * The fields of an envelope. Of repeated address fields all addresses count, of other repeated fields the first.
 * @param declared charset the message declares, for a Subject in raw 8-bit text that is not UTF-8; by default that of its Content-Type
 */
export function envelopeFields(fields: readonly HeaderField[], declared?: string | null): EnvelopeFields {
  const envelope: EnvelopeFields = {}
  for (const field of fields) {
    const member = MEMBERS.get(field.name)
    if (member === undefined || !takesMore(envelope, member)) continue
    add(envelope, member, fieldText(field, member === 'subject' ? (declared ?? ownCharset(field, fields)) : null))
  }
  return envelope
}

/** What needs a charset or is none. */
const NOT_PLAIN = /[\x1b\x80-\xff]/
const ENVELOPE_FINDER = new FieldFinder(MEMBERS.keys())

/** The same of the kept fields of a message, where they are plain ASCII: without reading all fields. */
export function keptEnvelope(headers: KeptHeaders): EnvelopeFields {
  const envelope: EnvelopeFields = {}
  for (const field of ENVELOPE_FINDER.find(headers)) {
    if (NOT_PLAIN.test(field)) return envelopeFields(headers.fields)
    const colon = field.indexOf(':')
    const member = MEMBERS.get(field.slice(0, colon).trimEnd().toLowerCase())!
    if (takesMore(envelope, member)) add(envelope, member, unfolded(field.slice(colon + 1)))
  }
  return envelope
}

function takesMore(envelope: EnvelopeFields, member: keyof EnvelopeFields): boolean {
  const before = envelope[member]
  return before === undefined || (LISTS.has(member) && before.length < ENVELOPE_FIELD_MAX)
}

function add(envelope: EnvelopeFields, member: keyof EnvelopeFields, text: string): void {
  const before = envelope[member]
  const joined = before === undefined || before === '' ? text : `${before}, ${text}`
  envelope[member] = joined.slice(0, ENVELOPE_FIELD_MAX).toWellFormed()
}

/** The charset of the Content-Type field; null where the field holds ASCII only, so that it is not needed. */
function ownCharset(field: HeaderField, fields: readonly HeaderField[]): string | null {
  if (!field.value.some((byte) => byte > 0x7f)) return null
  return parseStructured(headerText(fields, 'content-type') ?? '').parameters.get('charset') ?? null
}
