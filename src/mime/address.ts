// Address parsing: strict for the envelope and the API (RFC 5321), lenient for header fields.

import { Buffer } from 'node:buffer'
import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'
import { AddressScan } from './address-scan.ts'
import type { Address } from './message.ts'

/** RFC 5321 §4.5.3.1.1 and §4.5.3.1.3 (a path has 256 octets, two of them its brackets). Octets. */
export const LOCAL_PART_MAX = 64
export const MAILBOX_MAX = 254
/** Addresses taken from one header field. */
export const ADDRESSES_MAX = 1000

/** RFC 6531 §3.3: non-ASCII letters, marks, digits and signs; no white space or invisible characters. */
const BEYOND_ASCII = '[[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}]--\\p{ASCII}]'
const ATOM = `(?:[A-Za-z0-9!#$%&'*+\\/=?^_\`\\{\\|\\}~\\-]|${BEYOND_ASCII})+`
const DOT_STRING = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, 'v')
const QUOTED_STRING = new RegExp(`^"(?:[ !#-\\[\\]-~]|${BEYOND_ASCII}|\\\\[ -~])*"$`, 'v')
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** Not every DNS name is a host name (RFC 2181 §11): domains of envelope senders may contain underscores. */
const SENDER_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** Characters of a domain before IDNA: keeps "%", "/" and "@", which domainToASCII would interpret, out of it. */
const DOMAIN_TEXT = /^[A-Za-z0-9._\-\u0080-\u{10ffff}]+$/u

export interface MailboxAddress {
  email: string
  /** Quoted only where it has to be: `"bob"@x` and `bob@x` are one mailbox (RFC 5321 4.1.2). */
  local: string
  /** Lower-case; A-labels, or an address literal in brackets. */
  domain: string
}

/** Parses a complete Mailbox of RFC 5321 §4.1.2 (RFC 6531 for UTF-8); null for anything else. */
export function parseMailbox(text: string): MailboxAddress | null {
  return parse(text, LABEL)
}

/** Parses the address of an envelope sender: a Mailbox whose domain may contain underscores; null for anything else. */
export function parseSender(text: string): MailboxAddress | null {
  return parse(text, SENDER_LABEL)
}

/** The domain of an address, in lower case: what follows the last @, or all of a text without one. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase()
}

function parse(text: string, label: RegExp): MailboxAddress | null {
  const at = text.lastIndexOf('@')
  if (at < 1 || text.length > MAILBOX_MAX) return null
  const local = localPart(text.slice(0, at))
  const domain = domainPart(text.slice(at + 1), label)
  if (local === null || domain === null) return null
  const email = `${local}@${domain}`
  return Buffer.byteLength(email) > MAILBOX_MAX ? null : { email, local, domain }
}

/**
 * Parses the addresses of a header field from its text, encoded words included: groups are flattened, comments and routes
 * dropped, names decoded. An entry with a name but no address has the email "". Linear time, never throws.
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
  // IDNA maps full-width digits to ASCII: a name must not become an IPv4 address by that.
  if (domain !== text.toLowerCase() && isIPv4(domain)) return null
  return domain.split('.').every((each) => label.test(each)) ? domain : null
}

/** An address literal in lower case (RFC 5321 §4.1.3): IPv4 or tagged IPv6; no other tag is registered. */
export function addressLiteral(text: string): string | null {
  const inside = /^\[([^[\]]*)\]$/.exec(text)?.[1]?.toLowerCase() ?? ''
  const known = inside.startsWith('ipv6:') ? isIPv6(inside.slice(5)) && !inside.includes('%') : isIPv4(inside)
  return known ? `[${inside}]` : null
}
