// What is to become of a mail: refused, Junk or Inbox, and why. Decides, and stores nothing.

import type { Config } from '../config/config.ts'
import { judgeMail } from '../directory/filter-policy.ts'
import type { FilterDecision } from '../directory/filters.ts'
import { MAX_RECEIVED } from '../smtp/limits.ts'
import type { Inspection } from '../workers/inspection.ts'
import { type Refusal, refusals } from './refusals.ts'
import { type SpamScore, scoreSpam } from './spam.ts'
import type { Peer, Transaction } from './transaction.ts'

export interface Judgement {
  /** Null when the mail is taken. */
  refusal: Refusal | null
  junk: boolean
  /** What the filters of each recipient say, in the order of the recipients. */
  filters: FilterDecision[]
  /** True when some recipients take the mail and others do not: one answer for all would be wrong for somebody. */
  divided: boolean
  spam: SpamScore
}

/** What is known of a message beside what was read in it. */
export interface Circumstances {
  transaction: Transaction
  peer: Peer
  config: Config
  /** Its author's domain is one of this appliance, and nothing proves it. */
  namesOwnDomain: boolean
}

/** One judgement for all recipients; see divisions.ts for those who do not agree. */
export function judge(inspection: Inspection, circumstances: Circumstances): Judgement {
  const { verdict, traits, mail } = inspection
  const { transaction, peer, config, namesOwnDomain: named } = circumstances
  const trustedForwarder = verdict.arc === 'pass' && config.TRUSTED_ARC.includes(verdict.arcDomain)
  const namesOwnDomain = named && !trustedForwarder
  const spam = scoreSpam({
    verdict,
    traits,
    mail,
    helo: peer.helo,
    hasReverseName: peer.name !== 'none',
    trustedForwarder,
    namesOwnDomain,
  })
  const { recipients, sender } = transaction
  const filters = recipients.map(({ policy }) => judgeMail(policy, sender.address, mail, verdict))
  const refused = filters.filter(({ accept }) => !accept).length
  const judgement = (refusal: Refusal | null, divided = false): Judgement => ({
    refusal,
    // Whatever the score and its threshold: nobody can say who wrote it, or it pretends to come from here.
    junk: spam.score >= config.SPAM_JUNK_SCORE || Boolean(verdict.authorProblem) || namesOwnDomain,
    filters,
    divided,
    spam,
  })
  // Our own field is counted too.
  if (traits.receivedCount - 1 > MAX_RECEIVED) return judgement(refusals.loop)
  // RFC 7489 6.6.2. A DNS that failed refuses nothing for ever; where the policy is known, it lets nothing in either.
  if (verdict.dmarcPolicy === 'reject' && !trustedForwarder) {
    if (verdict.dmarc === 'fail') return judgement(refusals.dmarc(verdict.fromDomain))
    if (verdict.dmarc === 'temperror') return judgement(refusals.dmarcLater(verdict.fromDomain))
  }
  if (refused > 0 && refused === filters.length) return judgement(refusals.filtered)
  if (spam.score >= config.SPAM_REFUSE_SCORE) return judgement(refusals.spam)
  if (refused > 0) return judgement(refusals.divided, true)
  return judgement(null)
}
