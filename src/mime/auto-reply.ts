// Whom a machine may answer: nobody who is a machine, a list or a role, and nobody who may not have written (RFC 3834, RFC 5230 4.6).

import { MAILBOX_MAX, parseMailbox } from './address.ts'
import type { AuthVerdict, MailTraits, ParsedMail } from './message.ts'

/** What is asked of a mail before it is answered by itself. */
export interface Answerable {
  traits: MailTraits
  verdict: AuthVerdict
  mail: Pick<ParsedMail, 'from' | 'to' | 'cc'>
}

/** Names in front of the @ behind which nobody reads (RFC 5230 4.6, RFC 2142); a tag of `bounces` names one mail of many. */
const NOBODY = new RegExp(
  '^(?:' +
    'mailer-daemon|postmaster|hostmaster|webmaster|abuse|nobody|root|daemon|listserv|majordomo|mailman' +
    '|(?:no|do-?not|dont|never)[._-]?reply(?:[._+=-].*)?' +
    '|owner-.*|.*-(?:owner|request|bounces?)' +
    '|(?:bounces?|returns?)(?:[._+=-].*)?' +
    ')$',
)
/** Addresses of To and Cc that are looked at. */
const NAMED_MAX = 200

/**
 * The address an answer goes to: that of the envelope (RFC 3834 4, RFC 5230 5.5), which is where a mail came from for certain if
 * anything is.
 * @param mailFrom "" for the null sender
 * @returns null for a mail no machine may answer
 */
export function answerAddress(mailFrom: string, { mail, traits, verdict }: Answerable): string | null {
  const sender = parseMailbox(mailFrom)
  if (sender === null || traits.autoSubmitted || traits.isList || traits.wantsNoAnswer) return null
  const names = [mailFrom, ...mail.from.map(({ email }) => email)].map(localPart)
  if (names.some((name) => NOBODY.test(name))) return null
  // A forged sender would be told what somebody else wrote.
  if (verdict.dmarc === 'fail' || (verdict.spf === 'fail' && verdict.dmarc !== 'pass')) return null
  return sender.email
}

/** Under which names a sender is remembered, lower-case: a mail may have an envelope of its own each time, and its author does not. */
export function senderKeys(mailFrom: string, { mail }: Answerable): string[] {
  const [author] = mail.from
  const keys = [author?.email ?? '', mailFrom].map((email) => email.toLowerCase())
  return [...new Set(keys)].filter((key) => key !== '' && key.length <= MAILBOX_MAX)
}

/** Addresses a mail is openly written to, lower-case (RFC 5230 4.5: an answer is for personal mail). */
export function namedIn({ mail }: Answerable): string[] {
  return [...mail.to, ...mail.cc].slice(0, NAMED_MAX).map(({ email }) => email.toLowerCase())
}

function localPart(email: string): string {
  return email.slice(0, Math.max(email.lastIndexOf('@'), 0)).toLowerCase()
}
