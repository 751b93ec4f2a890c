// Replies that refuse a recipient or a message, each with the reason noted in the inbound log.

import { MAX_MESSAGE_BYTES } from '../smtp/limits.ts'
import { replies, reply, type SmtpReply } from '../smtp/replies.ts'
import type { InboundReason } from '../store/log/inbound-log.ts'

/** A reply that refuses mail, and the reason to note (docs/design/receiving.md §2); `null` for what is not noted. */
export interface SmtpRefusal {
  reply: SmtpReply
  reason: InboundReason | null
}

const refusal = (reason: InboundReason | null, code: number, enhanced: string, text: string): SmtpRefusal => ({
  reply: reply(code, enhanced, text),
  reason,
})

/** Replies that refuse a recipient or a message. */
export const refusals = {
  unknown: refusal('unknown_recipient', 550, '5.1.1', 'There is no such mailbox here'),
  foreign: refusal(null, 550, '5.7.1', 'Relaying denied: this domain is not hosted here'),
  suspended: refusal('mailbox_suspended', 550, '5.2.1', 'The mailbox is suspended'),
  paused: refusal('address_paused', 550, '5.2.1', 'The address takes no mail'),
  teamSuspended: refusal(
    'mailbox_suspended',
    450,
    '4.2.1',
    'The mailbox cannot receive mail at the moment, try again later',
  ),
  full: refusal('mailbox_full', 452, '4.2.2', 'The mailbox is full'),
  oneFull: refusal('temporary_failure', 452, '4.2.2', 'One of the mailboxes is full, send the message again'),
  longFull: refusal('mailbox_full', 552, '5.2.2', 'The mailbox has been full for days'),
  filtered: refusal('sender_filtered', 550, '5.7.1', 'The recipient does not take mail from this sender'),
  byScript: (reason: string) => refusal('script_refused', 550, '5.7.1', reason.replace(/[^ -~]/g, '?')),
  divided: refusal(
    'sender_filtered',
    451,
    '4.7.1',
    'Not all recipients accept this message, send it again to each of them',
  ),
  separately: refusal('rate_limited', 452, '4.5.3', 'Send to this recipient separately'),
  manyRecipients: refusal('rate_limited', 452, '4.5.3', 'Too many recipients'),
  manyNew: refusal('rate_limited', 451, '4.7.1', 'Too many addresses that were never seen before, try again later'),
  busy: refusal('rate_limited', 451, '4.3.2', 'Too many messages at once, try again in a moment'),
  noMemory: refusal('rate_limited', 452, '4.3.1', 'Too many large messages at once, try again in some minutes'),
  bareCr: refusal('bad_bytes', 550, '5.6.11', 'A carriage return without a line feed is not allowed'),
  bareLf: refusal('bad_bytes', 550, '5.6.11', 'A line feed without a carriage return is not allowed'),
  nul: refusal('bad_bytes', 550, '5.6.11', 'A NUL is not allowed'),
  tooLarge: { reply: replies.tooLarge(MAX_MESSAGE_BYTES), reason: 'too_large' } satisfies SmtpRefusal,
  largerThanDeclared: refusal('too_large', 552, '5.3.4', 'The message is larger than its declared SIZE'),
  loop: refusal('rate_limited', 554, '5.4.6', 'The message has passed too many hosts: mail loop'),
  dmarc: (domain: string) =>
    refusal('dmarc_reject', 550, '5.7.1', `The message fails DMARC, and the policy of ${domain} is reject`),
  dmarcLater: (domain: string) =>
    refusal('temporary_failure', 451, '4.7.0', `DMARC of ${domain} cannot be checked at the moment, try again later`),
  spam: refusal('spam', 550, '5.7.1', 'The message looks like spam'),
  noReport: refusal('not_a_report', 550, '5.7.1', 'This address only takes reports about mail that was sent'),
  failure: refusal('temporary_failure', 451, '4.3.0', 'Temporary local failure, try again later'),
  noRoom: refusal('temporary_failure', 452, '4.3.1', 'Insufficient storage at the moment, try again later'),
} as const
