// Addresses: the strict mailbox of the envelope and of the API's edges, and the lenient list of a header field.

import { Buffer } from 'node:buffer'
import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { AddressScan } from './address-scan.ts'
import type { Address } from './message.ts'

/** RFC 5321 4.5.3.1.1 and 4.5.3.1.3 (a path has 256 octets, two of them its brackets). Octets. */
export const LOCAL_PART_MAX = 64
export const MAILBOX_MAX = 254
/** Addresses taken from one header field. */
export const ADDRESSES_MAX = 1000

/** RFC 6531 3.3: a letter, mark, digit, sign outside ASCII; no white space and nothing unseen. */
const BEYOND_ASCII = '[[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}]--\\p{ASCII}]'
const ATOM = `(?:[A-Za-z0-9!#$%&'*+\\/=?^_\`\\{\\|\\}~\\-]|${BEYOND_ASCII})+`
const DOT_STRING = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, 'v')
const QUOTED_STRING = new RegExp(`^"(?:[ !#-\\[\\]-~]|${BEYOND_ASCII}|\\\\[ -~])*"$`, 'v')
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** A name in DNS is not always a host name (RFC 2181 11): domains of envelope senders have underscores. */
const SENDER_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** What may stand in a domain before it becomes ASCII: so domainToASCII sees no "%", "/" or "@" it would act on. */
const DOMAIN_TEXT = /^[A-Za-z0-9._\-\u0080-\u{10ffff}]+$/u

export interface Mailbox {
  email: string
  /** Quoted only where it has to be: `"bob"@x` and `bob@x` are one mailbox (RFC 5321 4.1.2). */
  local: string
  /** Lower-case; A-labels, or an address literal in brackets. */
  domain: string
}

/** A Mailbox of RFC 5321 4.1.2 (RFC 6531 for UTF-8), whole and nothing else; null for anything that is none. */
export function parseMailbox(text: string): Mailbox | null {
  return parse(text, LABEL)
}

/** The address of an envelope sender: a Mailbox whose domain may have underscores; null for anything else. */
export function parseSender(text: string): Mailbox | null {
  return parse(text, SENDER_LABEL)
}

function parse(text: string, label: RegExp): Mailbox | null {
  const at = text.lastIndexOf('@')
  if (at < 1 || text.length > MAILBOX_MAX) return null
  const local = localPart(text.slice(0, at))
  const domain = domainPart(text.slice(at + 1), label)
  if (local === null || domain === null) return null
  const email = `${local}@${domain}`
  return Buffer.byteLength(email) > MAILBOX_MAX ? null : { email, local, domain }
}

/**
 * The addresses of a header field, given as text with its encoded words: groups flattened, comments and routes left out,
 * names decoded. What has a name but no address has the email "". Linear time, never throws.
 */
export function parseAddressList(headerValue: string, max = ADDRESSES_MAX): Address[] {
  return new AddressScan(headerValue, max).run()
}

function localPart(text: string): string | null {
  if (Buffer.byteLength(text) > LOCAL_PART_MAX) return null
  if (DOT_STRING.test(text)) return text.normalize('NFC')
  if (!QUOTED_STRING.test(text)) return null
  const content = text.slice(1, -1).replace(/\\(.)/gu, '$1').normalize('NFC')
  return DOT_STRING.test(content) ? content : `"${content.replace(/["\\]/g, '\\$&')}"`
}

function domainPart(text: string, label: RegExp): string | null {
  if (text.startsWith('[')) return addressLiteral(text)
  if (!DOMAIN_TEXT.test(text)) return null
  const domain = /[^\x00-\x7f]/.test(text) ? domainToASCII(text) : text.toLowerCase()
  // Full-width digits become an IPv4 address there: what was no number before must not be one after.
  if (domain !== text.toLowerCase() && isIPv4(domain)) return null
  return domain.split('.').every((each) => label.test(each)) ? domain : null
}

/** RFC 5321 4.1.3: IPv4 or tagged IPv6; no other tag was ever registered. */
function addressLiteral(text: string): string | null {
  const inside = /^\[([^[\]]*)\]$/.exec(text)?.[1]?.toLowerCase() ?? ''
  const known = inside.startsWith('ipv6:') ? isIPv6(inside.slice(5)) && !inside.includes('%') : isIPv4(inside)
  return known ? `[${inside}]` : null
}
