// Counts of messages, and ratios of them.

import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/schema.ts'
import type { Counts } from '../../store/log/tally.ts'
import { record } from './record.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Rate = (description: string) =>
  Nullable(Type.Number({ minimum: 0, maximum: 1, description: `${description}; null when the divisor is 0.` }))

export const EmailTotals = record('EmailTotals', 'Counts of events, each in the hour it happened.', {
  accepted: Count('Recipients of messages accepted for sending.'),
  sent: Count('Recipients with a final outcome: delivered, bounced or expired.'),
  delivered: Count('Recipients whose next server accepted the message.'),
  delayed: Count('Recipients deferred at least once.'),
  bounced: Count(
    'Recipients of `message.bounced` events: permanent and transient bounces, asynchronous ones included.',
  ),
  bounced_hard: Count('Bounces of type `permanent`.'),
  bounced_soft: Count('Bounces of another type, expired deliveries included.'),
  complained: Count('Recipients who complained.'),
  rejected: Count('Recipients that were not attempted; `event_reason` has the reason.'),
  failed: Count('Recipients whose delivery ended as `failed`: bounced, expired or canceled.'),
  received: Count('Copies stored outside Junk.'),
  received_spam: Count('Copies stored in Junk.'),
  received_blocked: Count('Copies refused.'),
})

export const EmailRates = record(
  'EmailRates',
  'Ratios from 0 to 1, with 4 decimal places. A bounce can be counted in a later hour than its message was sent: then the ' +
    'ratio is 1 at most.',
  {
    delivery_rate: Rate('delivered / sent'),
    bounce_rate: Rate('bounced / sent'),
    complaint_rate: Rate('complained / delivered'),
    rejection_rate: Rate('rejected / accepted'),
  },
)

export function presentTotals(counts: Counts): Static<typeof EmailTotals> {
  const { accepted, sent, delivered, delayed, bounced_hard, bounced_soft, ...rest } = counts
  const bounced = bounced_hard + bounced_soft
  return { accepted, sent, delivered, delayed, bounced, bounced_hard, bounced_soft, ...rest }
}

export function presentRates({
  accepted,
  sent,
  delivered,
  bounced_hard,
  bounced_soft,
  complained,
  rejected,
}: Counts): Static<typeof EmailRates> {
  return {
    delivery_rate: rate(delivered, sent),
    bounce_rate: rate(bounced_hard + bounced_soft, sent),
    complaint_rate: rate(complained, delivered),
    rejection_rate: rate(rejected, accepted),
  }
}

function rate(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.min(1, Math.round((part / whole) * 10_000) / 10_000)
}
