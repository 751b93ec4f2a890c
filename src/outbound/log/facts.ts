// Which metrics a transition of a delivery counts (docs/design/sending.md §10).

import { domainOf } from '../../mime/address.ts'
import type { CountedEvent } from '../../store/log/counters.ts'
import type { Counts } from '../../store/log/tally.ts'
import type { Delivery, Email, Outcome } from '../model/records.ts'
import type { AttemptState } from './transition-rules.ts'

/** @returns the common fields of all facts about a delivery; null for messages of the appliance itself, which are not counted */
export function factOf(
  message: Pick<Email, 'teamId' | 'mailboxId' | 'source' | 'from'> & Pick<Delivery, 'to'> & { domainId: string | null },
  at: number,
): Pick<CountedEvent, 'teamId' | 'at' | 'mailboxId' | 'domain' | 'isOwnDomain' | 'recipientDomain'> | null {
  if (message.source === 'system') return null
  return {
    teamId: message.teamId,
    at,
    mailboxId: message.mailboxId,
    domain: domainOf(message.from.email),
    isOwnDomain: message.domainId !== null,
    recipientDomain: domainOf(message.to),
  }
}

/** The domain after the last @, in lower case. */

/**
 * The counts and the reason of a transition (docs/design/sending.md §7). `sent` counts every recipient with a final attempt, so that
 * `delivered` and the bounces are shares of it.
 * @param before the status before the transition
 * @returns null for a repeated deferral or complaint, which is not counted
 */
export function countedAs(
  before: Pick<AttemptState, 'status' | 'statusReason'>,
  outcome: Outcome,
): Pick<CountedEvent, 'counts' | 'reason'> | null {
  const sent: Partial<Counts> = before.status === 'pending' ? { sent: 1 } : {}
  switch (outcome.kind) {
    case 'sent':
      return { counts: { ...sent, delivered: 1 }, reason: null }
    case 'deferred':
      return before.statusReason === null ? { counts: { delayed: 1 }, reason: outcome.cause } : null
    case 'bounced': {
      const kind = outcome.type === 'permanent' ? 'bounced_hard' : 'bounced_soft'
      return { counts: { ...sent, [kind]: 1, failed: 1 }, reason: outcome.subType }
    }
    case 'expired':
      return { counts: { ...sent, bounced_soft: 1, failed: 1 }, reason: 'expired' }
    case 'cancelled':
      return { counts: { failed: 1 }, reason: 'cancelled' }
    case 'rejected':
      return { counts: { rejected: 1 }, reason: outcome.reason }
    case 'held':
    case 'approved':
      return null
    case 'complained':
      // RFC 6430: "not-spam" withdraws a complaint.
      return outcome.feedbackType === 'not_spam' || before.statusReason === 'complained'
        ? null
        : { counts: { complained: 1 }, reason: outcome.feedbackType }
  }
}
