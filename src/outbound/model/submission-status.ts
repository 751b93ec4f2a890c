// The status of a submission, derived from its deliveries (docs/design/mailbox.md §7).

import type { Delivery } from './records.ts'

export type SubmissionStatus = 'scheduled' | 'queued' | 'sending' | 'sent' | 'partially_sent' | 'failed' | 'canceled'

/**
 * @param deliveries of its message, at least one
 * @param now ms
 */
export function submissionStatus(
  submission: { sendAt: number; canceledAt: number | null },
  deliveries: readonly Pick<Delivery, 'status' | 'attempts'>[],
  now: number,
): SubmissionStatus {
  if (submission.canceledAt !== null) return 'canceled'
  if (deliveries.some(({ status }) => status === 'pending')) {
    // Suppressed recipients are rejected at acceptance, which does not start the delivery.
    if (deliveries.some(({ attempts }) => attempts > 0)) return 'sending'
    return submission.sendAt > now ? 'scheduled' : 'queued'
  }
  const sent = deliveries.filter(({ status }) => status === 'sent').length
  if (sent === deliveries.length) return 'sent'
  return sent > 0 ? 'partially_sent' : 'failed'
}
