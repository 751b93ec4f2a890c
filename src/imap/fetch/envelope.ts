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

/** Address lists that are remembered: the same ones are in many messages of a folder. */
const LISTS_MAX = 2000
/** Longer fields are not remembered, characters. */
const LIST_CHARACTERS = 500
const NIL: readonly ResponsePart[] = ['NIL']

/** Writes ENVELOPE of many messages for one session. */
export class EnvelopeFormatter {
  readonly #format: StringFormat
  /** Address lists by the text of their field. */
  readonly #lists = new Map<string, readonly ResponsePart[]>()

  constructor(format: StringFormat) {
    this.#format = format
  }

  /** The value of ENVELOPE, with its parentheses. */
  format(fields: EnvelopeFields): ResponsePart[] {
    const out = new ResponseParts(this.#format)
    this.write(fields, out)
    return out.parts()
  }

  /** Writes an envelope, also that of a message inside a message. */
  write(fields: EnvelopeFields, out: ResponseParts): void {
    out.raw('(').nstring(fields.date).raw(' ').nstring(fields.subject).raw(' ')
    const from = this.#list(fields.from)
    out.add(from).raw(' ')
    for (const text of [fields.sender, fields.replyTo]) {
      const list = this.#list(text)
      // An absent or empty Sender or Reply-To is that of From.
      out.add(list === NIL ? from : list).raw(' ')
    }
    for (const text of [fields.to, fields.cc, fields.bcc]) out.add(this.#list(text)).raw(' ')
    out.nstring(fields.inReplyTo).raw(' ').nstring(fields.messageId).raw(')')
  }

  #list(text: string | undefined): readonly ResponsePart[] {
    if (text === undefined) return NIL
    const known = this.#lists.get(text)
    if (known !== undefined) return known
    const list = formatList(parseListedAddresses(text), this.#format)
    if (this.#lists.size >= LISTS_MAX) this.#lists.clear()
    if (text.length <= LIST_CHARACTERS) this.#lists.set(text, list)
    return list
  }
}

function formatList(list: readonly ListedAddress[], format: StringFormat): readonly ResponsePart[] {
  if (list.length === 0) return NIL
  const out = new ResponseParts(format)
  out.raw('(')
  for (const address of list) writeAddress(out.isUtf8 ? address : shownInAscii(address), out)
  return out.raw(')').parts()
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
