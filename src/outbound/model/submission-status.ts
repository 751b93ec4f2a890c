// The status of a submission, derived from its deliveries (docs/design/mailbox.md §7).

import type { Delivery } from './records.ts'

export const SUBMISSION_STATUSES = [
  ...(['scheduled', 'held', 'queued', 'sending', 'sent', 'partially_sent', 'failed', 'canceled'] as const),
] as const
export type SubmissionStatus = (typeof SUBMISSION_STATUSES)[number]

/** The begin of `status_reason` of deliveries that wait for a person. */
const HELD = 'held:'

/** Whether a delivery waits for a person. */
export function isHeld({ status, statusReason }: Pick<Delivery, 'status' | 'statusReason'>): boolean {
  return status === 'pending' && statusReason?.startsWith(HELD) === true
}

/**
 * @param deliveries of its message, at least one
 * @param now ms
 */
export function submissionStatus(
  submission: { sendAt: number; canceledAt: number | null },
  deliveries: readonly Pick<Delivery, 'status' | 'statusReason' | 'attempts'>[],
  now: number,
): SubmissionStatus {
  if (submission.canceledAt !== null) return 'canceled'
  if (deliveries.some(isHeld)) return 'held'
  if (deliveries.some(({ status }) => status === 'pending')) {
    // Suppressed recipients are rejected at acceptance, which does not start the delivery.
    if (deliveries.some(({ attempts }) => attempts > 0)) return 'sending'
    return submission.sendAt > now ? 'scheduled' : 'queued'
  }
  const sent = deliveries.filter(({ status }) => status === 'sent').length
  if (sent === deliveries.length) return 'sent'
  return sent > 0 ? 'partially_sent' : 'failed'
}
