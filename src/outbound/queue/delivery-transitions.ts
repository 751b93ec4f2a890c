// Applies transitions to deliveries, with all their effects. No other module changes the status of a delivery.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import type { SqlValue, Tx } from '../../db/db.ts'
import { inPieces } from '../../db/many-rows.ts'
import type { NewEvent } from '../../events/outbox.ts'
import type { Counters } from '../../store/log/counters.ts'
import type { Meter } from '../billing/meter.ts'
import { bodyOf, type EventFact } from '../log/bodies.ts'
import { countedAs, factOf } from '../log/facts.ts'
import { countOpenOf, keepContents } from '../log/kept-contents.ts'
import { stepsOf, withStep } from '../log/timeline.ts'
import { type DeliveryTransition, transitionOf } from '../log/transition-rules.ts'
import type { OutboundDeps } from '../model/deps.ts'
import type { Carrier, DeliveryStatus, EmailSource, Outcome } from '../model/records.ts'
import type { Queue } from './queue.ts'
import type { Suppressions } from './suppressions.ts'

interface Deps extends Pick<OutboundDeps, 'clock' | 'outbox'> {
  queue: Pick<Queue, 'postpone' | 'drop'>
  suppressions: Pick<Suppressions, 'add'>
  meter: Pick<Meter, 'settle'>
  /** Closes held messages that no longer wait. */
  closeHeld(tx: Tx, emails: readonly number[], state: 'canceled' | 'withdrawn', at: number): void
  store: {
    log: { counters: Pick<Counters, 'count'> }
    sending: {
      submissions: {
        /** Marks the submission of a message as changed for clients of the mailbox. */
        touch(tx: Tx, emailId: string): unknown
      }
    }
  }
}

/** docs/design/events.md §4: a delay is reported when the next attempt is further away than this, at most once an hour. */
export const DELAY_REPORTED_FROM_MS = 5 * MINUTE_MS
export const DELAY_REPORTED_EVERY_MS = HOUR_MS
/** 9999-12-31T23:59:59.999Z: times in reports are untrusted, and later ones have another ISO format. */
/** Messages that a person or a program sent, and may send again. */
const RESENT_SOURCES: ReadonlySet<EmailSource> = new Set(['batch_api', 'mailbox_api', 'smtp'])
/** How long the content of a message whose delivery failed is kept, ms. */
const KEPT_MS = 7 * DAY_MS
/** Messages of a mailbox, whose owner must know when they are not delivered. */
const SOURCES_WITH_DSN: ReadonlySet<EmailSource> = new Set(['mailbox_api', 'smtp', 'forward'])
const TIME_MAX = 253_402_300_799_999

/** A delivery joined with its message. */
interface Row {
  n: number
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
  tags: string | null
  metadata: string | null
}

const READ = `SELECT d.n, d.id, d.email, d.team_id, d.mailbox_id, d.to_email, d.provider_id, d.provider_name, d.status,
    d.status_reason, d.attempts, d.sent_at, d.delay_reported_at, d.timeline, e.id AS email_id, e.domain_id, e.source,
    e.from_email, e.from_name, e.subject, e.internet_message_id, e.queued_at, e.expires_at,
    e.tags, e.metadata
  FROM deliveries d JOIN emails e ON e.n = d.email WHERE d.n IN (SELECT value FROM json_each(?))`

const WRITE = `UPDATE deliveries SET status = new.status, status_reason = new.status_reason, provider_id = new.provider_id,
    provider_name = new.provider_name, sent_at = new.sent_at, delay_reported_at = new.delay_reported_at,
    notice_due = new.notice_due, timeline = new.timeline
  FROM new WHERE deliveries.n = new.n`
const WRITTEN = 'n, status, status_reason, provider_id, provider_name, sent_at, delay_reported_at, notice_due, timeline'

/** The outcome of one delivery. */
export interface DeliveryOutcome {
  /** Key of the delivery. */
  delivery: number
  outcome: Outcome
  /** The carrier of the attempt; null without one, which keeps the stored carrier. */
  carrier: Carrier | null
}

/** The writes of several transitions, gathered for one statement per table. */
interface Writes {
  deliveries: SqlValue[][]
  /** Keys of deliveries that leave the queue. */
  dropped: number[]
  postponed: { delivery: number; dueAt: number }[]
  /** By key of the message: the change of the number of deliveries that need its content. */
  open: Map<number, number>
  /** Keys of messages whose content is kept, because a delivery failed. */
  kept: number[]
  events: NewEvent[]
  /** Keys of held messages that ended. */
  ended: Record<'canceled' | 'withdrawn', number[]>
}

export class DeliveryTransitions {
  readonly #deps: Deps
  readonly #clock: Clock

  constructor(deps: Deps) {
    this.#deps = deps
    this.#clock = deps.clock
  }

  /**
   * Applies an outcome (docs/design/sending.md §7) in a unit of work: status, timeline, queue row, event, suppression and submission.
   * @param carrier see {@link DeliveryOutcome}
   * @returns false when the table has no such transition (final states stay final): then nothing is changed
   */
  apply(tx: Tx, delivery: number, outcome: Outcome, carrier: Carrier | null): boolean {
    return this.applyAll(tx, [{ delivery, outcome, carrier }])[0]!
  }

  /** The same for several deliveries, each at most once, with one statement per table. @returns for each what {@link apply} returns */
  applyAll(tx: Tx, outcomes: readonly DeliveryOutcome[]): boolean[] {
    if (outcomes.length === 0) return []
    const rows = tx.all<Row>(READ, [JSON.stringify(outcomes.map(({ delivery }) => delivery))])
    const byN = new Map(rows.map((row) => [row.n, row]))
    const writes: Writes = {
      deliveries: [],
      dropped: [],
      postponed: [],
      open: new Map(),
      kept: [],
      events: [],
      ended: { canceled: [], withdrawn: [] },
    }
    const applied = outcomes.map(({ delivery, outcome, carrier }) => {
      const row = byN.get(delivery)
      return row !== undefined && this.#applyOne(tx, writes, row, bounded(outcome), carrier)
    })
    this.#write(tx, writes)
    return applied
  }

  #applyOne(tx: Tx, writes: Writes, row: Row, outcome: Outcome, carrier: Carrier | null): boolean {
    const steps = outcome.kind === 'complained' ? stepsOf(row.timeline) : []
    const { status, status_reason: statusReason, attempts } = row
    const transition = transitionOf({ status, statusReason, attempts, steps }, outcome)
    if (transition === null) return false
    const moved = carrier === null ? row : { ...row, provider_id: carrier.id, provider_name: carrier.name }
    this.#gather(tx, writes, moved, outcome, transition)
    return true
  }

  #gather(tx: Tx, writes: Writes, row: Row, outcome: Outcome, transition: DeliveryTransition): void {
    const now = this.#clock.now()
    const isReported =
      transition.event !== null &&
      row.source !== 'system' &&
      (transition.status !== 'pending' || isLate(row, transition, now))
    const needsDsn = SOURCES_WITH_DSN.has(row.source) && isFailure(outcome)
    writes.deliveries.push([
      row.n,
      transition.status,
      transition.statusReason,
      row.provider_id,
      row.provider_name,
      outcome.kind === 'sent' ? now : row.sent_at,
      isReported && transition.status === 'pending' ? now : row.delay_reported_at,
      needsDsn,
      withStep(row.timeline, { at: now, ...transition.step }),
    ])
    const { nextAt } = transition.step
    if (nextAt !== null) writes.postponed.push({ delivery: row.n, dueAt: nextAt })
    else if (row.status === 'pending') writes.dropped.push(row.n)
    this.#settle(tx, row, transition, now)
    this.#count(tx, row, outcome, now)
    if (isFailure(outcome) && RESENT_SOURCES.has(row.source)) writes.kept.push(row.email)
    if (row.status_reason?.startsWith('held:') && transition.status !== 'pending') {
      writes.ended[outcome.kind === 'cancelled' ? 'canceled' : 'withdrawn'].push(row.email)
    }
    const change = contentUsers(transition.status, needsDsn) - contentUsers(row.status, false)
    if (change !== 0) writes.open.set(row.email, (writes.open.get(row.email) ?? 0) + change)
    const suppressed = this.#suppress(tx, row, transition)
    if (isReported) writes.events.push(eventOf(row, transition, { outcome, at: now, suppressed }))
    if (row.mailbox_id !== null) this.#deps.store.sending.submissions.touch(tx, row.email_id)
  }

  #write(tx: Tx, { deliveries, dropped, postponed, open, kept, events, ended }: Writes): void {
    const { queue, outbox, closeHeld } = this.#deps
    inPieces(deliveries, (marks, values) => tx.run(`WITH new (${WRITTEN}) AS (VALUES ${marks}) ${WRITE}`, values))
    for (const { delivery, dueAt } of postponed) queue.postpone(tx, delivery, dueAt)
    queue.drop(tx, dropped)
    keepContents(tx, kept, this.#clock.now() + KEPT_MS)
    countOpenOf(tx, open)
    closeHeld(tx, ended.canceled, 'canceled', this.#clock.now())
    closeHeld(tx, ended.withdrawn, 'withdrawn', this.#clock.now())
    outbox.recordAll(tx, events)
  }

  #settle(tx: Tx, row: Row, { status }: DeliveryTransition, now: number): void {
    if (row.status !== 'pending' || status === 'pending' || row.source === 'system') return
    const carrier = { id: row.provider_id, name: row.provider_name }
    this.#deps.meter.settle(tx, row.team_id, status === 'sent' ? carrier : null, now)
  }

  #count(tx: Tx, row: Row, outcome: Outcome, at: number): void {
    const { team_id: teamId, mailbox_id: mailboxId, domain_id: domainId, source, to_email: to } = row
    const message = { teamId, mailboxId, domainId, source, to, from: { email: row.from_email, name: row.from_name } }
    const fact = factOf(message, at)
    const counted = countedAs({ status: row.status, statusReason: row.status_reason }, outcome)
    if (fact === null || counted === null) return
    const provider = row.provider_id === null ? null : { id: row.provider_id, name: row.provider_name }
    this.#deps.store.log.counters.count(tx, { ...fact, ...counted, tags: row.tags, provider })
  }

  /** Only messages of the team cause suppressions, not messages of the appliance itself. */
  #suppress(tx: Tx, row: Row, { suppress, step }: DeliveryTransition): boolean {
    if (suppress === null || row.source === 'system') return false
    this.#deps.suppressions.add(tx, {
      teamId: row.team_id,
      email: row.to_email.toLowerCase(),
      reason: suppress,
      sourceMessageId: row.email_id,
      note: step.detail,
    })
    return true
  }
}

function eventOf(row: Row, { event }: DeliveryTransition, fact: EventFact): NewEvent {
  return {
    teamId: row.team_id,
    type: event!,
    mailboxId: row.mailbox_id,
    domainId: row.domain_id,
    at: fact.at,
    data: bodyOf(subjectOf(row), fact),
  }
}

/** docs/design/events.md §4: whether a deferral is reported. */
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
    tags: row.tags,
    metadata: row.metadata,
  }
}
