// Decides whether an automatic reply may be sent, and to which address: never to automatic senders, lists, role addresses or forged senders (RFC 3834, RFC 5230 §4.6).

import { MAILBOX_MAX, parseMailbox } from './address.ts'
import type { AuthVerdict, MessageTraits, ParsedMessage } from './message.ts'

/** Facts about a message that decide whether it gets an automatic reply. */
export interface Answerable {
  traits: MessageTraits
  verdict: AuthVerdict
  message: Pick<ParsedMessage, 'from' | 'to' | 'cc'>
}

/** Local parts of automatic and role addresses (RFC 5230 §4.6, RFC 2142); VERP addresses have a tag behind `bounces`. */
const AUTOMATIC_OR_ROLE = new RegExp(
  '^(?:' +
    'mailer-daemon|postmaster|hostmaster|webmaster|abuse|nobody|root|daemon|listserv|majordomo|mailman' +
    '|(?:no|do-?not|dont|never)[._-]?reply(?:[._+=-].*)?' +
    '|owner-.*|.*-(?:owner|request|bounces?)' +
    '|(?:bounces?|returns?)(?:[._+=-].*)?' +
    ')$',
)
/** Addresses of To and Cc that are read. */
const NAMED_MAX = 200

/**
 * The address an automatic reply goes to: the envelope sender (RFC 3834 §4, RFC 5230 §5.5).
 * @param mailFrom "" for the null sender
 * @returns null when no automatic reply may be sent
 */
export function answerAddress(mailFrom: string, { message, traits, verdict }: Answerable): string | null {
  const sender = parseMailbox(mailFrom)
  if (sender === null || traits.autoSubmitted || traits.isList || traits.wantsNoAnswer) return null
  const names = [mailFrom, ...message.from.map(({ email }) => email)].map(localPart)
  if (names.some((name) => AUTOMATIC_OR_ROLE.test(name))) return null
  // The reply to a forged sender would be backscatter, and carry the words of the forger under our signature.
  return isAuthentic(sender.domain, verdict) ? sender.email : null
}

/**
 * Whether the domain of the envelope sender is authenticated: by SPF, or by an author of the same domain or of one above it. An author below
 * it, such as a customer of a provider with a subdomain, does not speak for the domain.
 */
function isAuthentic(domain: string, { spf, spfDomain, dmarc, fromAligned, fromDomain }: AuthVerdict): boolean {
  if (dmarc === 'fail') return false
  const name = domain.toLowerCase()
  if (spf === 'pass' && spfDomain.toLowerCase() === name) return true
  const author = fromDomain.toLowerCase()
  return fromAligned && (name === author || name.endsWith(`.${author}`))
}

/** Keys under which a replied-to sender is remembered, lower-case: the author too, because VERP envelope senders differ each time. */
export function senderKeys(mailFrom: string, { message }: Answerable): string[] {
  const [author] = message.from
  const keys = [author?.email ?? '', mailFrom].map((email) => email.toLowerCase())
  return [...new Set(keys)].filter((key) => key !== '' && key.length <= MAILBOX_MAX)
}

/** Addresses in To and Cc, lower-case (RFC 5230 §4.5: only personal mail gets a reply). */
export function namedIn({ message }: Answerable): string[] {
  return [...message.to, ...message.cc].slice(0, NAMED_MAX).map(({ email }) => email.toLowerCase())
}

function localPart(email: string): string {
  return email.slice(0, Math.max(email.lastIndexOf('@'), 0)).toLowerCase()
}
