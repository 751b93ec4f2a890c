// The transition table of deliveries (decisions §6.2). Pure functions.

import { isoTime } from '../../base/clock.ts'
import type { EventType } from '../../events/outbox.ts'
import { clean } from '../../mime/one-line.ts'
import { classifyReply } from '../../reports/reply-class.ts'
import type { DeliveryStatus, Outcome, RemoteReply } from '../records.ts'
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
export function transitionOf(standing: AttemptState, outcome: Outcome): DeliveryTransition | null {
  const isPending = standing.status === 'pending'
  switch (outcome.kind) {
    case 'bounced':
      return bounce(standing, outcome)
    case 'complained':
      return complaint(standing, outcome)
    case 'sent':
      return isPending ? { ...move('sent', null, said('sent', outcome.reply)), event: 'message.delivered' } : null
    case 'deferred':
      return isPending ? deferral(outcome) : null
    case 'expired':
      return isPending ? expiry(outcome.reply) : null
    case 'rejected':
      return isPending ? rejection(outcome.reason, clean(outcome.detail, DETAIL_MAX)) : null
    case 'cancelled':
      return isPending ? move('failed', 'cancelled', plain('cancelled', 'Cancelled before it was handed over')) : null
  }
}

function deferral({ reply, nextAt }: Extract<Outcome, { kind: 'deferred' }>): DeliveryTransition {
  const step = { ...said('deferred', reply), nextAt }
  return { ...move('pending', `deferred: ${step.detail}`, step), event: 'message.delivery_delayed' }
}

function expiry(reply: RemoteReply): DeliveryTransition {
  const step = said('expired', reply)
  return { ...move('failed', `expired: ${step.detail}`, step), event: 'message.bounced' }
}

function rejection(reason: string, detail: string): DeliveryTransition {
  const statusReason = `${reason}: ${detail}`
  return { ...move('rejected', statusReason, plain('rejected', statusReason)), event: 'message.rejected' }
}

function bounce(standing: AttemptState, outcome: Extract<Outcome, { kind: 'bounced' }>): DeliveryTransition | null {
  const { afterAccept, reply, type } = outcome
  if (!mayBounce(standing, afterAccept)) return null
  const step = said('bounced', reply)
  const word = afterAccept ? 'bounced_after_accept' : 'bounced'
  // Decisions §6.3: only permanent failures suppress an address.
  const isHard = type === 'permanent' && (outcome.dead === true || classifyReply(reply).suppress)
  return {
    ...move('failed', `${word}: ${step.detail}`, step),
    event: 'message.bounced',
    suppress: isHard ? 'bounce' : null,
  }
}

function mayBounce({ status, attempts }: AttemptState, afterAccept: boolean): boolean {
  if (!afterAccept) return status === 'pending'
  // A report may arrive before the outcome is recorded, and it overrides an attempt of unknown outcome.
  return status === 'sent' || (status === 'pending' && attempts > 0)
}

function complaint(
  standing: AttemptState,
  outcome: Extract<Outcome, { kind: 'complained' }>,
): DeliveryTransition | null {
  const { feedbackType, userAgent, occurredAt } = outcome
  if (standing.status !== 'sent') return null
  const reporter = userAgent === null ? '' : ` reported by ${clean(userAgent, 100)}`
  const detail = `${feedbackType}${reporter} at ${isoTime(occurredAt)}`
  // Reporters repeat a report when they miss our reply.
  const told = standing.steps.filter(({ type }) => type === 'complained')
  if (told.length >= COMPLAINTS_MAX || told.some((step) => step.detail === detail)) return null
  // RFC 6430: "not-spam" withdraws a complaint.
  const isComplaint = feedbackType !== 'not_spam'
  return {
    ...move('sent', isComplaint ? 'complained' : standing.statusReason, plain('complained', detail)),
    event: 'message.complained',
    suppress: isComplaint ? 'complaint' : null,
  }
}

function move(
  status: DeliveryStatus,
  statusReason: string | null,
  step: DeliveryTransition['step'],
): DeliveryTransition {
  return { status, statusReason, step, event: null, suppress: null }
}

function said(type: StepType, reply: RemoteReply): DeliveryTransition['step'] {
  const step = { type, detail: replyLine(reply), smtpCode: reply.smtpCode, nextAt: null }
  return reply.server === undefined ? step : { ...step, server: reply.server }
}

function plain(type: StepType, detail: string): DeliveryTransition['step'] {
  return { type, detail, smtpCode: null, nextAt: null }
}
