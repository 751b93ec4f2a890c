// What is to become of a mail: refused, Junk or Inbox, and why. Decides, and stores nothing.

import type { Config } from '../config/config.ts'
import type { FilterDecision } from '../directory/filters.ts'
import type { Inspection } from '../mail/mail.ts'
import { judgeMail } from './filter.ts'
import { MAX_RECEIVED } from './limits.ts'
import { type Refusal, refusals } from './replies.ts'
import { type SpamScore, scoreSpam } from './spam.ts'
import type { Peer, Transaction } from './transaction.ts'

export interface Judgement {
  /** Null when the mail is taken. */
  refusal: Refusal | null
  junk: boolean
  filter: FilterDecision | null
  spam: SpamScore
}

/** One judgement holds for every recipient: only those with the same filters travel together (see recipients.ts). */
export function judge(inspection: Inspection, transaction: Transaction, peer: Peer, config: Config): Judgement {
  const { verdict, traits, mail } = inspection
  const trustedForwarder = verdict.arc === 'pass' && config.TRUSTED_ARC.includes(verdict.arcDomain)
  const spam = scoreSpam({
    verdict,
    traits,
    mail,
    helo: peer.helo,
    hasReverseName: peer.name !== 'none',
    trustedForwarder,
  })
  const [first] = transaction.recipients
  const filter = first ? judgeMail(first.policy, transaction.sender.address, mail, verdict) : null
  const judgement = (refusal: Refusal | null): Judgement => ({
    refusal,
    junk: spam.score >= config.SPAM_JUNK_SCORE,
    filter,
    spam,
  })
  // Our own field is counted too.
  if (traits.receivedCount - 1 > MAX_RECEIVED) return judgement(refusals.loop)
  // RFC 7489 6.6.2. A DNS that failed is "temperror" and refuses nothing.
  if (verdict.dmarc === 'fail' && verdict.dmarcPolicy === 'reject' && !trustedForwarder) {
    return judgement(refusals.dmarc(verdict.fromDomain))
  }
  if (filter && !filter.accept) return judgement(refusals.filtered)
  if (spam.score >= config.SPAM_REFUSE_SCORE) return judgement(refusals.spam)
  return judgement(null)
}
