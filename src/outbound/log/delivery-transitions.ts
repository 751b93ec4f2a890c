// Applies transitions to deliveries, with all their effects. No other module changes the status of a delivery.

import type { Clock } from '../../base/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import type { Counters } from '../../store/metrics/counters.ts'
import type { Meter } from '../billing/meter.ts'
import type { OutboundDeps } from '../deps.ts'
import type { Queue } from '../queue.ts'
import type { Carrier, DeliveryStatus, EmailSource, Outcome } from '../records.ts'
import type { Suppressions } from '../suppressions.ts'
import { bodyOf } from './bodies.ts'
import { countedAs, factOf } from './facts.ts'
import { countOpen } from './open-content.ts'
import { stepsOf, withStep } from './timeline.ts'
import { type DeliveryTransition, transitionOf } from './transition-rules.ts'

interface Deps extends Pick<OutboundDeps, 'clock' | 'outbox'> {
  queue: Pick<Queue, 'postpone' | 'drop'>
  suppressions: Pick<Suppressions, 'add'>
  meter: Pick<Meter, 'settle'>
  store: {
    counters: Pick<Counters, 'count'>
    submissions: {
      /** Marks the submission of a message as changed for clients of the mailbox. */
      touch(tx: Tx, emailId: string): Promise<unknown>
    }
  }
}

/** Decisions §9.4: a delay is reported when the next attempt is further away than this, at most once an hour. */
export const DELAY_REPORTED_FROM_MS = 5 * MINUTE_MS
export const DELAY_REPORTED_EVERY_MS = HOUR_MS
/** 9999-12-31T23:59:59.999Z: times in reports are untrusted, and later ones have another ISO format. */
const TIME_MAX = 253_402_300_799_999

/** A delivery joined with its message. */
interface Row {
  id: string
  email: number
  team_id: string
  mailbox_id: string | null
  to_email: string
  provider_id: string | null
  provider_name: string | null
  status: DeliveryStatus
  status_reason: string | null
  attempts: number
  sent_at: number | null
  delay_reported_at: number | null
  timeline: string
  email_id: string
  domain_id: string | null
  source: EmailSource
  from_email: string
  from_name: string
  subject: string
  internet_message_id: string
  queued_at: number
  expires_at: number
}

const READ = `SELECT d.id, d.email, d.team_id, d.mailbox_id, d.to_email, d.provider_id, d.provider_name, d.status,
    d.status_reason, d.attempts, d.sent_at, d.delay_reported_at, d.timeline, e.id AS email_id, e.domain_id, e.source,
    e.from_email, e.from_name, e.subject, e.internet_message_id, e.queued_at, e.expires_at
  FROM deliveries d JOIN emails e ON e.n = d.email WHERE d.n = ?`

const WRITE = `UPDATE deliveries SET status = ?, status_reason = ?, provider_id = ?, provider_name = ?, sent_at = ?,
    delay_reported_at = ?, notice_due = ?, timeline = ? WHERE n = ?`

export class DeliveryTransitions {
  readonly #deps: Deps
  readonly #clock: Clock

  constructor(deps: Deps) {
    this.#deps = deps
    this.#clock = deps.clock
  }

  /**
   * Applies an outcome (decisions §6.2) in a unit of work: status, timeline, queue row, event, suppression and submission.
   * @param carrier the carrier of the attempt; null without one, which keeps the stored carrier
   * @returns false when the table has no such transition (final states stay final): then nothing is changed
   */
  async apply(tx: Tx, deliveryN: number, outcome: Outcome, carrier: Carrier | null): Promise<boolean> {
    const row = await tx.get<Row>(READ, [deliveryN])
    if (!row) return false
    const fact = bounded(outcome)
    const steps = fact.kind === 'complained' ? stepsOf(row.timeline) : []
    const { status, status_reason: statusReason, attempts } = row
    const transition = transitionOf({ status, statusReason, attempts, steps }, fact)
    if (transition === null) return false
    const moved = carrier === null ? row : { ...row, provider_id: carrier.id, provider_name: carrier.name }
    await this.#write(tx, deliveryN, moved, fact, transition)
    return true
  }

  async #write(tx: Tx, n: number, row: Row, outcome: Outcome, transition: DeliveryTransition): Promise<void> {
    const { queue, store } = this.#deps
    const now = this.#clock.now()
    const isReported =
      transition.event !== null &&
      row.source !== 'system' &&
      (transition.status !== 'pending' || isLate(row, transition, now))
    const needsDsn = row.source === 'mailbox_api' && isFailure(outcome)
    await tx.run(WRITE, [
      transition.status,
      transition.statusReason,
      row.provider_id,
      row.provider_name,
      outcome.kind === 'sent' ? now : row.sent_at,
      isReported && transition.status === 'pending' ? now : row.delay_reported_at,
      needsDsn,
      withStep(row.timeline, { at: now, ...transition.step }),
      n,
    ])
    if (transition.step.nextAt !== null) await queue.postpone(tx, n, transition.step.nextAt)
    else if (row.status === 'pending') await queue.drop(tx, n)
    if (row.status === 'pending' && transition.status !== 'pending' && row.source !== 'system') {
      const carrier = { id: row.provider_id, name: row.provider_name }
      await this.#deps.meter.settle(tx, row.team_id, transition.status === 'sent' ? carrier : null, now)
    }
    this.#count(tx, row, outcome, now)
    const change = contentUsers(transition.status, needsDsn) - contentUsers(row.status, false)
    if (change !== 0) await countOpen(tx, row.email, change)
    const suppressed = await this.#suppress(tx, row, transition)
    if (isReported) await this.#recordEvent(tx, row, transition, { outcome, at: now, suppressed })
    if (row.mailbox_id !== null) await store.submissions.touch(tx, row.email_id)
  }

  #count(tx: Tx, row: Row, outcome: Outcome, at: number): void {
    const { team_id: teamId, mailbox_id: mailboxId, domain_id: domainId, source, to_email: to } = row
    const message = { teamId, mailboxId, domainId, source, to, from: { email: row.from_email, name: row.from_name } }
    const fact = factOf(message, at)
    const counted = countedAs({ status: row.status, statusReason: row.status_reason }, outcome)
    if (fact === null || counted === null) return
    const provider = row.provider_id === null ? null : { id: row.provider_id, name: row.provider_name }
    this.#deps.store.counters.count(tx, { ...fact, ...counted, provider })
  }

  /** Only messages of the team cause suppressions, not messages of the appliance itself. */
  async #suppress(tx: Tx, row: Row, { suppress, step }: DeliveryTransition): Promise<boolean> {
    if (suppress === null || row.source === 'system') return false
    await this.#deps.suppressions.add(tx, {
      teamId: row.team_id,
      email: row.to_email.toLowerCase(),
      reason: suppress,
      sourceMessageId: row.email_id,
      note: step.detail,
    })
    return true
  }

  async #recordEvent(
    tx: Tx,
    row: Row,
    { event }: DeliveryTransition,
    fact: { outcome: Outcome; at: number; suppressed: boolean },
  ) {
    await this.#deps.outbox.record(tx, {
      teamId: row.team_id,
      type: event!,
      mailboxId: row.mailbox_id,
      domainId: row.domain_id,
      at: fact.at,
      data: bodyOf(subjectOf(row), fact),
    })
  }
}

/** Decisions §9.4: whether a deferral is reported. */
function isLate(row: Row, { step }: DeliveryTransition, now: number): boolean {
  const isFar = step.nextAt !== null && step.nextAt - now > DELAY_REPORTED_FROM_MS
  return isFar && (row.delay_reported_at === null || now - row.delay_reported_at >= DELAY_REPORTED_EVERY_MS)
}

/** Outcomes that cause a DSN to the sending mailbox; a cancellation by the sender does not. */
function isFailure({ kind }: Outcome): boolean {
  return kind === 'bounced' || kind === 'expired' || kind === 'rejected'
}

/** 1 while the delivery needs the content of the message: to send it, or to quote it in a DSN. */
function contentUsers(status: DeliveryStatus, needsDsn: boolean): number {
  return status === 'pending' || needsDsn ? 1 : 0
}

function bounded(outcome: Outcome): Outcome {
  if (!('occurredAt' in outcome)) return outcome
  return { ...outcome, occurredAt: Math.min(Math.max(outcome.occurredAt || 0, 0), TIME_MAX) }
}

function subjectOf(row: Row) {
  return {
    emailId: row.email_id,
    deliveryId: row.id,
    source: row.source,
    mailboxId: row.mailbox_id,
    carrier: row.provider_name === null ? null : { id: row.provider_id, name: row.provider_name },
    fromEmail: row.from_email,
    fromName: row.from_name,
    to: row.to_email,
    subject: row.subject,
    internetMessageId: row.internet_message_id,
    queuedAt: row.queued_at,
    expiresAt: row.expires_at,
    attempts: row.attempts,
  }
}
