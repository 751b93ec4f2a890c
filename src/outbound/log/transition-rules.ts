// The transition table of deliveries (docs/design/sending.md §7). Pure functions.

import { isoTime } from '../../base/clock.ts'
import type { EventType } from '../../events/event-types.ts'
import { clean } from '../../mime/one-line.ts'
import { classifyReply } from '../../reports/reply-class.ts'
import type { DeliveryStatus, Outcome, RemoteReply } from '../model/records.ts'
import { DETAIL_MAX, replyLine, type Step, type StepType } from './timeline.ts'

/** The state of a delivery before a transition. */
export interface AttemptState {
  status: DeliveryStatus
  statusReason: string | null
  /** Attempts so far. */
  attempts: number
  steps: readonly Step[]
}

/** The state of a delivery after a transition. */
export interface DeliveryTransition {
  status: DeliveryStatus
  statusReason: string | null
  step: Omit<Step, 'at'>
  event: EventType | null
  /** Why the transition suppresses the recipient; null when it does not. */
  suppress: 'bounce' | 'complaint' | null
}

/** Complaints reported per delivery; more of them indicate abuse. */
export const COMPLAINTS_MAX = 20

/** @returns null when the table has no such transition: final states stay final */
export function transitionOf(state: AttemptState, outcome: Outcome): DeliveryTransition | null {
  const isPending = state.status === 'pending'
  switch (outcome.kind) {
    case 'bounced':
      return bounce(state, outcome)
    case 'complained':
      return complaint(state, outcome)
    case 'sent':
      return isPending
        ? { ...transition('sent', null, replyStep('sent', outcome.reply)), event: 'message.delivered' }
        : null
    case 'deferred':
      return isPending ? deferral(outcome) : null
    case 'expired':
      return isPending ? expiry(outcome.reply) : null
    case 'rejected':
      return isPending ? rejection(outcome.reason, clean(outcome.detail, DETAIL_MAX)) : null
    case 'cancelled':
      return isPending
        ? transition('failed', 'cancelled', plainStep('cancelled', 'Canceled before it was handed over'))
        : null
    case 'held':
      return isPending ? hold(clean(outcome.detail, DETAIL_MAX)) : null
    case 'approved':
      return isPending ? transition('pending', null, plainStep('approved', 'Approved by a person')) : null
  }
}

function hold(detail: string): DeliveryTransition {
  return transition('pending', `held: ${detail}`, plainStep('held', detail))
}

function deferral({ reply, nextAt }: Extract<Outcome, { kind: 'deferred' }>): DeliveryTransition {
  const step = { ...replyStep('deferred', reply), nextAt }
  return { ...transition('pending', `deferred: ${step.detail}`, step), event: 'message.delivery_delayed' }
}

function expiry(reply: RemoteReply): DeliveryTransition {
  const step = replyStep('expired', reply)
  return { ...transition('failed', `expired: ${step.detail}`, step), event: 'message.bounced' }
}

function rejection(reason: string, detail: string): DeliveryTransition {
  const statusReason = `${reason}: ${detail}`
  return { ...transition('rejected', statusReason, plainStep('rejected', statusReason)), event: 'message.rejected' }
}

function bounce(state: AttemptState, outcome: Extract<Outcome, { kind: 'bounced' }>): DeliveryTransition | null {
  const { afterAccept, reply, type } = outcome
  if (!mayBounce(state, afterAccept)) return null
  const step = replyStep('bounced', reply)
  const word = afterAccept ? 'bounced_after_accept' : 'bounced'
  // docs/design/sending.md §8: only permanent failures suppress an address.
  const isHard = type === 'permanent' && (outcome.dead === true || classifyReply(reply).suppress)
  return {
    ...transition('failed', `${word}: ${step.detail}`, step),
    event: 'message.bounced',
    suppress: isHard ? 'bounce' : null,
  }
}

function mayBounce({ status, attempts }: AttemptState, afterAccept: boolean): boolean {
  if (!afterAccept) return status === 'pending'
  // A report may arrive before the outcome is recorded, and it overrides an attempt of unknown outcome.
  return status === 'sent' || (status === 'pending' && attempts > 0)
}

function complaint(state: AttemptState, outcome: Extract<Outcome, { kind: 'complained' }>): DeliveryTransition | null {
  const { feedbackType, userAgent, occurredAt } = outcome
  if (state.status !== 'sent') return null
  const reporter = userAgent === null ? '' : ` reported by ${clean(userAgent, 100)}`
  const detail = `${feedbackType}${reporter} at ${isoTime(occurredAt)}`
  // Reporters repeat a report when they miss our reply.
  const reported = state.steps.filter(({ type }) => type === 'complained')
  if (reported.length >= COMPLAINTS_MAX || reported.some((step) => step.detail === detail)) return null
  // RFC 6430: "not-spam" withdraws a complaint.
  const isComplaint = feedbackType !== 'not_spam'
  return {
    ...transition('sent', isComplaint ? 'complained' : state.statusReason, plainStep('complained', detail)),
    event: 'message.complained',
    suppress: isComplaint ? 'complaint' : null,
  }
}

function transition(
  status: DeliveryStatus,
  statusReason: string | null,
  step: DeliveryTransition['step'],
): DeliveryTransition {
  return { status, statusReason, step, event: null, suppress: null }
}

function replyStep(type: StepType, reply: RemoteReply): DeliveryTransition['step'] {
  const step = { type, detail: replyLine(reply), smtpCode: reply.smtpCode, nextAt: null }
  return reply.server === undefined ? step : { ...step, server: reply.server }
}

function plainStep(type: StepType, detail: string): DeliveryTransition['step'] {
  return { type, detail, smtpCode: null, nextAt: null }
}
