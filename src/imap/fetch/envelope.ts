// Writes ENVELOPE (RFC 9051 §7.5.2) from the header fields of a message.

import { type ListedAddress, parseListedAddresses } from '../../mime/address-list.ts'
import type { EnvelopeFields } from '../../mime/envelope.ts'
import {
  asciiDomain,
  isAscii,
  onOneLine,
  type ResponsePart,
  ResponseParts,
  type StringFormat,
} from './response-parts.ts'

/** RFC 6858 §2.1: stands for an address that a session without UTF-8 cannot be shown. */
const UNSHOWN = { mailbox: 'invalid', host: 'internationalized-address.invalid' }

/** The value of ENVELOPE, with its parentheses. */
export function formatEnvelope(fields: EnvelopeFields, format: StringFormat): ResponsePart[] {
  const out = new ResponseParts(format)
  writeEnvelope(fields, out)
  return out.parts()
}

/** Writes an envelope, also that of a message inside a message. */
export function writeEnvelope(fields: EnvelopeFields, out: ResponseParts): void {
  out.raw('(').nstring(fields.date).raw(' ').nstring(fields.subject).raw(' ')
  const from = addresses(fields.from)
  writeAddresses(from, out)
  out.raw(' ')
  for (const text of [fields.sender, fields.replyTo]) {
    // An absent or empty Sender or Reply-To is that of From.
    const list = addresses(text)
    writeAddresses(list.length > 0 ? list : from, out)
    out.raw(' ')
  }
  for (const text of [fields.to, fields.cc, fields.bcc]) {
    writeAddresses(addresses(text), out)
    out.raw(' ')
  }
  out.nstring(fields.inReplyTo).raw(' ').nstring(fields.messageId).raw(')')
}

function addresses(text: string | undefined): ListedAddress[] {
  return text === undefined ? [] : parseListedAddresses(text)
}

function writeAddresses(list: readonly ListedAddress[], out: ResponseParts): void {
  if (list.length === 0) {
    out.raw('NIL')
    return
  }
  out.raw('(')
  for (const address of list) writeAddress(out.isUtf8 ? address : shownInAscii(address), out)
  out.raw(')')
}

function writeAddress({ name, route, mailbox, host }: ListedAddress, out: ResponseParts): void {
  out.raw('(').nstring(name).raw(' ').nstring(route).raw(' ').nstring(mailbox).raw(' ').nstring(host).raw(')')
}

/** The address in ASCII; one whose local part is not gets an invalid address, and its display name shows it. */
function shownInAscii(address: ListedAddress): ListedAddress {
  const { name, route, mailbox } = address
  // The name of a group is a phrase, which encoded words can show.
  if (mailbox === null || address.host === null) return address
  const host = asciiDomain(address.host)
  const shownRoute = route === null || isAscii(route) ? route : null
  if (isAscii(mailbox) && isAscii(host)) return { name, route: shownRoute, mailbox, host }
  const whole = onOneLine(`${mailbox}@${address.host}`)
  return { name: name === null ? whole : `${name} <${whole}>`, route: null, ...UNSHOWN }
}
