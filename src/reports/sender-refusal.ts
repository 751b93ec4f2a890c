// Whether a refusal is about the envelope sender: servers say so at RCPT as well, where it looks like a refused recipient.

import type { Reply } from './reply-class.ts'

/** Characters of a reply that are looked at. */
const TEXT_MAX = 2000
/** RFC 3463 X.1.7 and X.1.8, and what Exchange answers to a client that may not send as this address. */
const SENDER_CODES = new Set(['5.1.7', '5.1.8', '5.7.60', '5.2.252'])
/** RFC 3463 X.7.2 and codes of Exchange: this recipient takes mail from certain senders only. */
const RECIPIENT_CODES = /^5\.7\.(?:2|12\d|13\d)$/

const WORDS = [
  // Postfix: "Sender address rejected: not owned by user ann"; others have words of their own in between.
  /\bsender (?:\S+ )?(?:e-?mail )?(?:address |domain )?(?:is |was |has been )?(?:rejected|denied|refused|blocked|invalid|unknown|disallowed|mismatch)/,
  /\bsender (?:\S+ )?(?:e-?mail )?(?:address |domain )?(?:is |was )?not (?:allowed|authori[sz]ed|permitted|owned|valid|local|verified|accepted)/,
  /\bnot (?:owned by|local sender)|\bsend ?as ?denied|permissions? to send as|relaying disallowed as/,
  /(?:not (?:allowed|authori[sz]ed|permitted)|may not|cannot|can't|denied) (?:to )?send (?:mail |e-?mail |messages )?(?:as|from)\b/,
  /\b(?:mail from|from address|return[- ]path|envelope (?:from|sender))\b.{0,60}\b(?:must|mismatch|denied|rejected|not|does ?n.t)\b/,
  /\b(?:bad|invalid|unauthori[sz]ed|forged) (?:envelope )?(?:sender|mail from|return[- ]path)\b|\bsender verif/,
]
/** Lists and groups, recipients with rules of their own, and the servers of recipients that are asked ahead, refuse a sender that others take. */
const OF_THE_RECIPIENT =
  /\bgroup\b|\b(?:mailing |distribution )?list\b|not a member|this recipient|recipient.{0,20}(?:restrict|polic|only accept)|recipient address rejected|undeliverable address|\bhost \S+ said\b/

/** True where a permanent refusal says that this envelope sender is not taken, whoever the recipient is. Linear, never throws. */
export function refusesSender({ smtpCode, enhancedCode, text }: Reply): boolean {
  if (smtpCode === null || smtpCode < 500) return false
  const plain = text.slice(0, TEXT_MAX).replace(/\s+/g, ' ').toLowerCase()
  if (RECIPIENT_CODES.test(enhancedCode ?? '') || OF_THE_RECIPIENT.test(plain)) return false
  return SENDER_CODES.has(enhancedCode ?? '') || WORDS.some((pattern) => pattern.test(plain))
}
