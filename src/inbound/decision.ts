// Decides whether an inbound message is rejected, filed in Junk or delivered to the Inbox, and why. Stores nothing.

import type { Config } from '../config/config.ts'
import { evaluateMessage } from '../directory/domains/filter-policy.ts'
import { rejectionOf } from '../sieve/outcome.ts'
import { spamLevel } from '../sieve/spam-level.ts'
import { MAX_RECEIVED } from '../smtp/limits.ts'
import { type SpamKnowledge, scoreSpam, withoutMailbox } from '../spam/score.ts'
import type { InboundDecision, Inspected, SpamVerdict } from './received-message.ts'
import { refusals, type SmtpRefusal } from './refusals.ts'

/** Facts that neither the message nor its transaction has. */
export interface DecisionContext {
  config: Config
  /** Its From domain is hosted on this appliance, and no authentication result proves it. */
  namesOwnDomain: boolean
  /** What each recipient's mailbox knows, in the order of the recipients. */
  knowledge?: readonly SpamKnowledge[]
}

/** One decision for all recipients; split-recipients.ts handles recipients whose filters disagree. */
export function decide(
  { inspection, recipients, sender, peer }: Pick<Inspected, 'inspection' | 'recipients' | 'sender' | 'peer'>,
  { config, namesOwnDomain: isNamed, knowledge = [] }: DecisionContext,
): InboundDecision {
  const { verdict, traits, message } = inspection
  const trustedForwarder = verdict.arc === 'pass' && config.TRUSTED_ARC.includes(verdict.arcDomain)
  const namesOwnDomain = isNamed && !trustedForwarder
  const { helo } = peer
  const hasReverseName = peer.name !== 'none'
  const circumstances = { verdict, traits, message, helo, hasReverseName, trustedForwarder, namesOwnDomain }
  // Independent of the score: the author is unclear, or the message falsely claims a domain of this appliance.
  const isForged = Boolean(verdict.authorProblem) || namesOwnDomain
  const filters = recipients.map(({ policy }) => evaluateMessage(policy, sender.address, message, verdict))
  const verdicts = filters.map(({ rule }, index): SpamVerdict => {
    const spam = scoreSpam(circumstances, inspection.content, knowledge[index])
    // The author is proven and the recipient has allowed them: no score files to Junk (docs/design/spam.md §1).
    const hasVirus = spam.parts.some(({ reason }) => reason === 'virus_found')
    const isAllowed = rule?.type === 'allow' && verdict.fromAligned && !hasVirus
    const junk = isForged || (spam.score >= config.SPAM_JUNK_SCORE && !isAllowed)
    return { spam, junk, level: spamLevel({ score: spam.score, isSpam: junk }, config.SPAM_JUNK_SCORE) }
  })
  const shared =
    verdicts.length === 1
      ? verdicts[0]!.spam
      : scoreSpam(circumstances, inspection.content, knowledge[0] && withoutMailbox(knowledge[0]))
  const scripts = verdicts.map(({ level }, index) => rejectionOf(inspection.scriptOutcomes[index] ?? null, level))
  const isRefused = filters.map(({ accept }, index) => !accept || scripts[index] !== null)
  const refused = isRefused.filter(Boolean).length
  const decision = (refusal: SmtpRefusal | null, divided = false): InboundDecision => ({
    refusal,
    junk: verdicts.every(({ junk }) => junk),
    filters,
    isSplit: divided,
    verdicts,
    shared,
  })
  // The count includes the Received field this server adds.
  if (traits.receivedCount - 1 > MAX_RECEIVED) return decision(refusals.loop)
  // RFC 7489 §6.6.2. With the policy known, a DNS failure defers the message: neither a permanent rejection nor a delivery.
  if (verdict.dmarcPolicy === 'reject' && !trustedForwarder) {
    if (verdict.dmarc === 'fail') return decision(refusals.dmarc(verdict.fromDomain))
    if (verdict.dmarc === 'temperror') return decision(refusals.dmarcLater(verdict.fromDomain))
  }
  if (filters.length > 0 && filters.every(({ accept }) => !accept)) return decision(refusals.filtered)
  // Facts about sender and form are the same for all recipients.
  if (verdicts.some(({ spam }) => spam.refusalScore >= config.SPAM_REFUSE_SCORE)) return decision(refusals.spam)
  if (refused > 0 && refused === filters.length) {
    return decision(refusals.byScript(scripts.find((reason) => reason !== null)!))
  }
  if (refused > 0) return decision(refusals.divided, true)
  return decision(null)
}
