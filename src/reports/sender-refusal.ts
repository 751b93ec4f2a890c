// Detects rejections of the envelope sender: some servers send them in reply to RCPT, where they look like a rejected recipient.

import type { RemoteReply } from './reply-class.ts'

/** Examined characters of a reply. */
const TEXT_MAX = 2000
/** RFC 3463 X.1.7 and X.1.8, and codes of Exchange for clients that may not send as this address. */
const SENDER_CODES = new Set(['5.1.7', '5.1.8', '5.7.60', '5.2.252'])
/** RFC 3463 X.7.2 and codes of Exchange: this recipient accepts messages only from certain senders. */
const RECIPIENT_CODES = /^5\.7\.(?:2|12\d|13\d)$/

const WORDS = [
  // Postfix: "Sender address rejected: not owned by user ann"; other servers insert words.
  /\bsender (?:\S+ )?(?:e-?mail )?(?:address |domain )?(?:is |was |has been )?(?:rejected|denied|refused|blocked|invalid|unknown|disallowed|mismatch)/,
  /\bsender (?:\S+ )?(?:e-?mail )?(?:address |domain )?(?:is |was )?not (?:allowed|authori[sz]ed|permitted|owned|valid|local|verified|accepted)/,
  /\bnot (?:owned by|local sender)|\bsend ?as ?denied|permissions? to send as|relaying disallowed as/,
  /(?:not (?:allowed|authori[sz]ed|permitted)|may not|cannot|can't|denied) (?:to )?send (?:mail |e-?mail |messages )?(?:as|from)\b/,
  /\b(?:mail from|from address|return[- ]path|envelope (?:from|sender))\b.{0,60}\b(?:must|mismatch|denied|rejected|not|does ?n.t)\b/,
  /\b(?:bad|invalid|unauthori[sz]ed|forged) (?:envelope )?(?:sender|mail from|return[- ]path)\b|\bsender verif/,
]
/** Lists, groups, recipients with restrictions and servers that verify a recipient ahead reject senders that others accept. */
const OF_THE_RECIPIENT =
  /\bgroup\b|\b(?:mailing |distribution )?list\b|not a member|this recipient|recipient.{0,20}(?:restrict|polic|only accept)|recipient address rejected|undeliverable address|\bhost \S+ said\b/

/** True for a permanent rejection of the envelope sender that applies to all recipients. Linear, never throws. */
export function refusesSender({ smtpCode, enhancedCode, text }: RemoteReply): boolean {
  if (smtpCode === null || smtpCode < 500) return false
  const plain = text.slice(0, TEXT_MAX).replace(/\s+/g, ' ').toLowerCase()
  if (RECIPIENT_CODES.test(enhancedCode ?? '') || OF_THE_RECIPIENT.test(plain)) return false
  return SENDER_CODES.has(enhancedCode ?? '') || WORDS.some((pattern) => pattern.test(plain))
}
