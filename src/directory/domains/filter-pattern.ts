// Patterns of sender filters: syntax, normalisation and matching.

import { unquote } from '../../mime/local-part.ts'
import { domainName } from '../names/domain-name.ts'

/** Longest pattern in characters (docs/design/directory.md §5.4). */
export const PATTERN_MAX = 320
const LOCAL_MAX = 64
// RFC 5322 atext, dots, and letters beyond ASCII (RFC 6531); the caller removes the star.
const LOCAL = /^[\w.!#$%&'+/=?^`{|}~\u0080-\u{10ffff}-]*$/u

/**
 * The stored spelling of a pattern (lower-case, A-labels), or null for an invalid pattern. The forms of docs/design/directory.md §5.4:
 * `user@domain`, `@domain`, `domain`, `*.domain`, `@*.domain`, `*@domain`, and one `*` inside a local part.
 */
export function normalPattern(pattern: string): string | null {
  if (pattern.length < 1 || pattern.length > PATTERN_MAX) return null
  const at = pattern.lastIndexOf('@')
  const local = pattern.slice(0, Math.max(at, 0)).toLowerCase()
  const wild = pattern.startsWith('*.', at + 1)
  const domain = domainName(pattern.slice(at + (wild ? 3 : 1)))
  if (domain === null) return null
  // A single word is more likely a local part without "@" than a domain.
  if (at < 0 && !wild && !domain.includes('.')) return null
  if (wild && local !== '') return null
  if (local.length > LOCAL_MAX || local.split('*').length > 2 || !LOCAL.test(local.replace('*', ''))) return null
  return `${local}${at < 0 ? '' : '@'}${wild ? '*.' : ''}${domain}`
}

/** A sender address, split for matching. */
export interface FilterSender {
  local: string
  /** The local part without its `+tag`. */
  base: string
  domain: string
}

/** Splits an address for matching. Null for an invalid address. */
export function readSender(email: string): FilterSender | null {
  const cut = email.lastIndexOf('@')
  const domain = domainName(email.slice(cut + 1))
  if (cut < 1 || domain === null) return null
  const local = unquote(email.slice(0, cut)).toLowerCase()
  const tag = local.indexOf('+')
  return { local, base: tag > 0 ? local.slice(0, tag) : local, domain }
}

/**
 * Whether a sender matches a pattern in stored spelling. Plain text comparison: linear time in both lengths
 * for any sender address.
 */
export function matchSender(pattern: string, sender: FilterSender): boolean {
  const at = pattern.lastIndexOf('@')
  const domain = pattern.slice(at + 1)
  const inDomain = domain.startsWith('*.') ? sender.domain.endsWith(domain.slice(1)) : sender.domain === domain
  return inDomain && (at < 1 || matchLocal(pattern.slice(0, at), sender))
}

/** Matches a pattern against one address. */
export function matchRule(pattern: string, email: string): boolean {
  const sender = readSender(email)
  return sender !== null && matchSender(pattern, sender)
}

function matchLocal(pattern: string, sender: FilterSender): boolean {
  // The "+tag" of a sender is compared only when the pattern has one.
  const name = pattern.includes('+') ? sender.local : sender.base
  const star = pattern.indexOf('*')
  if (star < 0) return name === pattern
  const head = pattern.slice(0, star)
  const tail = pattern.slice(star + 1)
  return name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail)
}
