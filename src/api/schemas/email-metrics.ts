// Counts of mail as they are shown, and what they say as shares.

import { type Static, Type } from 'typebox'
import { Nullable } from '../../http/schema.ts'
import type { Counts } from '../../store/metrics/tally.ts'
import { record } from './record.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })
const Rate = (description: string) =>
  Nullable(
    Type.Number({ minimum: 0, maximum: 1, description: `${description}; null when there is nothing to divide by.` }),
  )

export const EmailTotals = record('EmailTotals', 'What happened, each counted in the hour it happened.', {
  accepted: Count('Recipients of mail that was taken for sending.'),
  sent: Count('Recipients tried to the end: delivered, bounced or expired.'),
  delivered: Count('Recipients whose next server took the mail.'),
  delayed: Count('Recipients put off at least once.'),
  bounced: Count('Recipients told of by `message.bounced`: both kinds, after a hand-over too.'),
  bounced_hard: Count('Bounces of type `permanent`.'),
  bounced_soft: Count('Bounces of another type; what expired is one.'),
  complained: Count('Recipients who complained.'),
  rejected: Count('Recipients that were not tried; `event_reason` tells why.'),
  failed: Count('Recipients whose delivery ended as `failed`: bounced, expired or cancelled.'),
  received: Count('Copies stored outside Junk.'),
  received_spam: Count('Copies stored in Junk.'),
  received_blocked: Count('Copies refused.'),
})

export const EmailRates = record(
  'EmailRates',
  'Shares from 0 to 1, to 4 places. A bounce may come in a later hour than its mail left: then the share is 1 at most.',
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
