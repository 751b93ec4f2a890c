// What a peer is told: every reply of the SMTP door with its codes, in one table.

import type { InboundReason } from '../store/inbound-log.ts'
import { MAX_MAIL_BYTES } from './limits.ts'

/** Codes of RFC 5321 4.2 and RFC 3463 and one English sentence. */
export interface Reply {
  code: number
  enhanced: string
  text: string
}

/** A reply that turns mail away, and the reason to note (decisions §6.4); `null` for what is not noted. */
export interface Refusal {
  reply: Reply
  reason: InboundReason | null
}

const reply = (code: number, enhanced: string, text: string): Reply => ({ code, enhanced, text })
const refusal = (reason: InboundReason | null, code: number, enhanced: string, text: string): Refusal => ({
  reply: reply(code, enhanced, text),
  reason,
})

/** Replies that keep the dialogue going or end it. */
export const replies = {
  sender: reply(250, '2.1.0', 'Sender ok'),
  recipient: reply(250, '2.1.5', 'Recipient ok'),
  content: reply(354, '', 'End data with <CR><LF>.<CR><LF>'),
  queued: (id: string) => reply(250, '2.0.0', `Ok: queued as ${id}`),
  senderFirst: reply(503, '5.5.1', 'Send MAIL first'),
  recipientFirst: reply(503, '5.5.1', 'Send RCPT first'),
  senderTwice: reply(503, '5.5.1', 'A sender was given already'),
  noArguments: reply(501, '5.5.4', 'DATA takes no arguments'),
  badSender: reply(501, '5.1.7', 'The sender address is not valid'),
  badRecipient: reply(501, '5.1.3', 'The recipient address is not valid'),
  badParameter: reply(501, '5.5.4', 'A parameter is not valid'),
  unknownParameter: reply(555, '5.5.4', 'A parameter is not supported'),
  needsUtf8: reply(553, '5.6.7', 'An address beyond ASCII needs SMTPUTF8'),
  badBytes: reply(500, '5.5.2', 'Commands are lines of text that end in CRLF'),
  lineTooLong: reply(500, '5.5.2', 'The line is too long'),
  notAscii: reply(501, '5.5.2', 'Only addresses may be beyond ASCII'),
  tooManyErrors: reply(421, '4.7.0', 'Too many errors'),
  tooSlow: reply(421, '4.4.2', 'Nothing came in time'),
  closing: reply(421, '4.3.2', 'The service is closing'),
  tooManyHere: reply(421, '4.7.0', 'Too many connections from your address'),
  tooMany: reply(421, '4.3.2', 'Too many connections'),
  blocked: reply(421, '4.7.0', 'Too much from your address was refused, try again later'),
  badProxy: reply(421, '4.7.0', 'A valid PROXY header was expected'),
} as const

/** Replies that turn a recipient or a mail away. */
export const refusals = {
  unknown: refusal('unknown_recipient', 550, '5.1.1', 'There is no such mailbox here'),
  foreign: refusal(null, 550, '5.7.1', 'Mail for this domain is not taken here'),
  suspended: refusal('mailbox_suspended', 550, '5.2.1', 'The mailbox is suspended'),
  teamSuspended: refusal('mailbox_suspended', 450, '4.2.1', 'The mailbox does not take mail at the moment'),
  full: refusal('mailbox_full', 452, '4.2.2', 'The mailbox is full'),
  oneFull: refusal('temporary_failure', 452, '4.2.2', 'One of the mailboxes is full, send the message again'),
  longFull: refusal('mailbox_full', 552, '5.2.2', 'The mailbox has been full for days'),
  filtered: refusal('sender_filtered', 550, '5.7.1', 'The recipient does not take mail from this sender'),
  divided: refusal('sender_filtered', 451, '4.7.1', 'Not all recipients take this mail, send it again one by one'),
  separately: refusal('rate_limited', 452, '4.5.3', 'Send to this recipient separately'),
  manyRecipients: refusal('rate_limited', 452, '4.5.3', 'Too many recipients'),
  busy: refusal('rate_limited', 451, '4.3.2', 'Too much mail at once, try again in a moment'),
  bareCr: refusal('bad_bytes', 550, '5.6.11', 'A carriage return without a line feed is not allowed'),
  bareLf: refusal('bad_bytes', 550, '5.6.11', 'A line feed without a carriage return is not allowed'),
  nul: refusal('bad_bytes', 550, '5.6.11', 'A NUL is not allowed'),
  tooLarge: refusal('too_large', 552, '5.3.4', `A mail may have at most ${MAX_MAIL_BYTES} bytes`),
  largerThanDeclared: refusal('too_large', 552, '5.3.4', 'The mail is larger than it was declared'),
  loop: refusal('rate_limited', 554, '5.4.6', 'The mail has passed too many hosts and seems to loop'),
  dmarc: (domain: string) =>
    refusal('dmarc_reject', 550, '5.7.1', `The mail fails DMARC and ${domain} asks to refuse such mail`),
  dmarcLater: (domain: string) =>
    refusal('temporary_failure', 451, '4.7.0', `DMARC of ${domain} cannot be checked at the moment, try again later`),
  spam: refusal('spam', 550, '5.7.1', 'The mail looks like spam'),
  noReport: refusal('not_a_report', 550, '5.7.1', 'This address only takes reports about mail that was sent'),
  failure: refusal('temporary_failure', 451, '4.3.0', 'Something is wrong here, try again later'),
  noRoom: refusal('temporary_failure', 452, '4.3.1', 'There is no room for the mail at the moment, try again later'),
} as const

/** The line without its CRLF. */
export function line({ code, enhanced, text }: Reply): string {
  return enhanced === '' ? `${code} ${text}` : `${code} ${enhanced} ${text}`
}
