// Determines the author (From) of a message, used by display, filters and authentication alike.

import { isUtf8 } from 'node:buffer'
import { domainToASCII, domainToUnicode } from 'node:url'
import { addressLiteral, parseAddressList } from './address.ts'
import { authorDomainsIn } from './author-domains.ts'
import { fromFieldsOf } from './author-fields.ts'
import { addressInName, areRelated, visibleForm } from './display-name.ts'
import { decodeWords } from './encoded-words.ts'
import { FIELD_BYTES_MAX, fieldText, HEADER_BYTES_MAX, HEADER_LINES_MAX, headerText, readHeaders } from './headers.ts'
import type { Address } from './message.ts'

/** Domains of one message whose DMARC policy is looked up. */
export const AUTHOR_DOMAINS_MAX = 10

/**
 * Reserve for the trace fields on top of the stored message (see trace.ts): a From field this close to the header limits
 * may be cut off there.
 */
export const TRACE_BYTES_MAX = 16 * 1024
export const TRACE_LINES_MAX = 64
/** Placeholder for the trace fields: with them on top, the first received line is never the start of the header. */
const TRACE = Buffer.from('Received: by us\r\n')

/** A label of a host name; underscores occur in names that receive mail. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** A local part without quotes, or one quoted string. */
const LOCAL_PART = /^(?:[^\x00-\x20\x7f"(),:;<>@[\\\]]+|"[^"\\<>@]*")$/u

export interface Author {
  /** Domain of the author in A-labels; "" when the author is ambiguous. */
  domain: string
  /** Every domain a mail client may display as the author's, those we display first; at most AUTHOR_DOMAINS_MAX. */
  domains: string[]
  /** Why the author is ambiguous, one sentence; "" when it is clear. */
  problem: string
}

/**
 * Reads the author from the received bytes, as the stored message shows it. It is clear only where every parser finds the
 * same one: forgeries exploit the differences. Linear time, never throws.
 */
export function readAuthor(bytes: Uint8Array): Author {
  const found = fromFieldsOf(bytes)
  const shown = readHeaders(Buffer.concat([TRACE, bytes.subarray(0, Math.min(found.headerEnd, HEADER_BYTES_MAX))]))
  const fields = shown.fields.filter(({ name }) => name === 'from')
  const texts = fields.map((field) => fieldText(field))
  const shownAuthors = texts.flatMap((text) => parseAddressList(text))
  const addresses = shownAuthors.map(({ email }) => email)
  const unclear = (problem: string): Author => ({
    domain: '',
    domains: authorDomainsIn(addresses, [...texts, ...found.texts], AUTHOR_DOMAINS_MAX),
    problem,
  })
  const [field, more] = fields
  if (field === undefined || more !== undefined || found.count !== 1) {
    return unclear('There is not exactly one From field.')
  }
  const { value, end } = field
  const isPlainField =
    found.value !== null && Buffer.compare(value, found.value) === 0 && value.length < FIELD_BYTES_MAX
  const isWithin = end <= HEADER_BYTES_MAX - TRACE_BYTES_MAX && found.line <= HEADER_LINES_MAX - TRACE_LINES_MAX
  if (!isPlainField || !isWithin) return unclear('The From field has no plain form.')
  if (addresses.length !== 1) return unclear('There is not exactly one address in From.')
  const email = addresses[0]!
  const domain = hostName(email.slice(email.lastIndexOf('@') + 1))
  const isAddress = domain !== null && LOCAL_PART.test(email.slice(0, Math.max(0, email.lastIndexOf('@'))))
  const isReadAlike = isUtf8(value) || !/[^\x00-\x7f]/.test(email)
  if (!isAddress || !isReadAlike || !standsAlone(texts[0]!, email)) return unclear('The address in From is not clear.')
  if (showsAnother(texts[0]!, shownAuthors[0]!)) return unclear('A reader sees another address in From.')
  return { domain, domains: [domain], problem: '' }
}

/** Whether the author is clear, and has this address. */
export function isAuthor(bytes: Uint8Array, email: string): boolean {
  if (readAuthor(bytes).problem !== '') return false
  const [author] = parseAddressList(headerText(readHeaders(bytes).fields, 'from') ?? '')
  return author !== undefined && sameAddress(author.email, email)
}

/** As addresses are compared within one host: case and Unicode form do not matter. */
function sameAddress(one: string, other: string): boolean {
  return one.normalize('NFC').toLowerCase() === other.normalize('NFC').toLowerCase()
}

/** Characters that reverse the text behind them. No language needs them in a name, unlike the other bidirectional controls. */
const OVERRIDE = /[\u202d\u202e]/

/** True when characters that are not seen, or seen as others, make the field look like it has another address. */
function showsAnother(text: string, { email, name }: Address): boolean {
  const local = email.slice(0, email.lastIndexOf('@'))
  const seen = visibleForm(local)
  // Clients that decode encoded words inside an address show the result.
  if (seen.includes('@') || local.normalize('NFKC') !== seen || decodeWords(local) !== local) return true
  if (OVERRIDE.test(text) || OVERRIDE.test(name)) return true
  const named = addressInName(name)
  if (named === null || !named.isDisguised) return false
  return !areRelated(named.domain, email.slice(email.lastIndexOf('@') + 1).toLowerCase())
}

/** The A-labels of a domain that every client resolves to the same name; null for any other text. */
function hostName(text: string): string | null {
  const isAscii = !/[^\x00-\x7f]/.test(text)
  const name = isAscii ? text.toLowerCase() : domainToASCII(text)
  // A name in brackets is no address literal (RFC 5321 §4.1.3): readers that take off the brackets show another domain than the one checked.
  if (name.startsWith('[')) return addressLiteral(name)
  if (name.length > 253 || !name.split('.').every((label) => LABEL.test(label))) return null
  // Where IDNA mapped something (invisible characters, compatibility forms), other clients may map it differently.
  return isAscii || domainToUnicode(name) === text.normalize('NFC').toLowerCase() ? name : null
}

/**
 * The words of a From value: quoted string, comment (RFC 5322 nests them; two levels occur), encoded word, address in
 * angle brackets, and plain text. Text that matches none of these is ambiguous.
 */
const WORD =
  /"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)|=\?[\w.:+*-]{1,90}\?[bq]\?[^?<>@"\s]*\?=|<[^<>"()\\]*>|<"[^"\\<>@]*"@[^<>"()\\]*>|\\[^"<>()@\\,;:]|[^"()<>\\=]+|=/isy

/** True when the address is in the text literally, and no other interpretation of the text yields another one. */
function standsAlone(text: string, email: string): boolean {
  const bare = withoutNames(text)
  if (bare === null) return false
  const open = bare.indexOf('<')
  if (open < 0) return isOnlyAddress(bare, email)
  const close = bare.indexOf('>', open)
  const name = bare.slice(0, open)
  const rest = bare.slice(close + 1)
  // `a@x, b <c@y>` names two; a group (RFC 5322 3.4) names any number. Some parsers take the address in `<a@x> b: "c@y"` for a part of
  // the group's name, and c@y for its member.
  if (/[<>@:]/.test(rest) || (name.includes('@') && /[,:;]/.test(name))) return false
  if (bare.includes(':') && rest.includes(';')) return false
  return bare.slice(open + 1, close).trim() === email
}

/** `ann@x`, optionally after a name: the old form without angle brackets. A trailing separator is allowed. */
function isOnlyAddress(bare: string, email: string): boolean {
  const words = bare.split(/[\s,;]+/).filter((word) => word !== '')
  return !bare.includes(':') && words.pop() === email && !words.some((word) => word.includes('@'))
}

/** The text without quoted strings and comments; null for an unclosed or misplaced one. */
function withoutNames(text: string): string | null {
  let bare = ''
  WORD.lastIndex = 0
  for (let at = 0; at < text.length; ) {
    const word = WORD.exec(text)?.[0]
    if (word === undefined) return null
    at = WORD.lastIndex
    const isName = word.startsWith('(') || (word.startsWith('"') && text[at] !== '@')
    bare += isName ? ' ' : word
  }
  return bare
}
