// Sentences about the sender of a message, by the results of SPF, DKIM and DMARC (docs/design/webmail.md §3).

import { getDomain } from 'tldts'
import type { ThrowAwayAddress } from '../../directory/mailboxes/aliases-throw-away.ts'
import { domainOf } from '../../mime/address.ts'
import type { Exchange } from '../../store/messages/sender-history.ts'
import type { MessageDetail } from '../../store/rows/records.ts'
import type { Sentence } from '../schemas/message-view.ts'

type Tone = Sentence['tone']

/** A sentence in English; programs in other languages word its code. */
export function sentence(code: string, tone: Tone, text: string, params: Record<string, string> = {}): Sentence {
  return { code, tone, params, text: text.replace(/\{(\w+)\}/g, (whole, name: string) => params[name] ?? whole) }
}

const PROVEN: readonly [code: string, text: string][] = [
  ['aligned_both', 'Really from {domain}: signed by them, and sent by a server they name.'],
  ['aligned_dkim', 'Really from {domain}: signed by them.'],
  ['aligned_spf', 'Really from {domain}: sent by a server they name.'],
]

/** Who the message is really from; null when it has no author that could be checked. */
export function toneOf({ authentication, from, envelope }: MessageDetail): Sentence | null {
  const { spf, dkim, dmarc, fromAligned } = authentication
  const domain = domainOf(from.email).toLowerCase()
  if (domain === '') return sentence('no_author', 'bad', 'It does not say who it is from.')
  if (fromAligned) {
    const proof = dkim === 'pass' ? (spf === 'pass' ? 0 : 1) : 2
    const [code, text] = PROVEN[proof]!
    return sentence(code, 'good', text, { domain })
  }
  if (dmarc === 'fail')
    return sentence('failed', 'bad', 'Says it is from {domain}, and {domain} says it is not.', { domain })
  const sender = domainOf(envelope.mailFrom).toLowerCase()
  if ((spf === 'pass' || dkim === 'pass') && sender !== '' && getDomain(sender) !== getDomain(domain)) {
    const text = 'Sent by {sender_domain} in the name of {domain}; {domain} does not say whether it may.'
    return sentence('unaligned_esp', 'unsure', text, { domain, sender_domain: sender })
  }
  return sentence('no_policy', 'unsure', 'Nothing proves that {domain} sent this: anybody could write it.', { domain })
}

/** The address that answers go to, where its domain is not that of the sender; null otherwise. */
export function replyElsewhere({ from, replyTo }: MessageDetail): string | null {
  const own = getDomain(domainOf(from.email)) ?? domainOf(from.email)
  const other = replyTo.find(({ email }) => (getDomain(domainOf(email)) ?? domainOf(email)) !== own)
  return other === undefined ? null : other.email
}

/** Further warnings. @param throwAway the address it was sent to, where it is one */
export function senderWarnings(message: MessageDetail, history: Exchange, throwAway?: ThrowAwayAddress): Sentence[] {
  const warnings = throwAway === undefined ? [] : [sentTo(throwAway, message)]
  if (history.received === 0 && history.sent === 0)
    warnings.push(sentence('first_contact', 'plain', 'First message from this address.'))
  const elsewhere = replyElsewhere(message)
  if (elsewhere !== null) {
    const text = 'Answers would go to {reply_to}, not to the sender.'
    warnings.push(sentence('reply_elsewhere', 'unsure', text, { reply_to: elsewhere }))
  }
  return warnings
}

/** A proven sender that the address was not made for was given it. */
function sentTo({ email: address, madeFor }: ThrowAwayAddress, { authentication, from }: MessageDetail): Sentence {
  const params = { address, made_for: madeFor, domain: domainOf(from.email).toLowerCase() }
  const [made, author] = [getDomain(madeFor.toLowerCase()), getDomain(params.domain)]
  if (authentication.fromAligned && made !== null && author !== made) {
    const text = 'Sent to {address}, which was made for {made_for}: {domain} was given it.'
    return sentence('address_passed_on', 'unsure', text, params)
  }
  return sentence('throw_away', 'plain', 'Sent to {address}, which was made for {made_for}.', params)
}
