// The queue of webhook deliveries: events are fanned out from the outbox to the matching subscriptions, and claimed from there.

import type { Clock } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import { conflict } from '../../base/errors.ts'
import { TOTAL_MS } from '../../base/safe-fetch.ts'
import type { Db, Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'
import type { EventType } from '../event-types.ts'
import { type DispatchedEvent, Payload, type PendingDelivery, type Webhook } from './records.ts'
import { LIFETIME_MS } from './schedule.ts'
import { type MatchedEvent, matchesEvent } from './subscription-match.ts'
import type { Webhooks } from './subscriptions.ts'

/** Events fanned out in one transaction. */
const FAN_OUT_MAX = 500
/** Lease of a claimed delivery, ms: well above the timeout of a request. */
const LEASE_MS = MINUTE_MS
/** Added for each claimed delivery: a silent endpoint times out on all of them, some at a time, before the lease ends. */
const LEASE_PER_DELIVERY_MS = TOTAL_MS
const DROP_BATCH = 1000

interface EventRow extends MatchedEvent {
  n: number
  team_id: string
  created_at: number
}

interface PendingRow {
  n: number
  webhook: number
  attempt: number
  ends_at: number
  event: number
}

/** How many due deliveries of a subscription to claim. */
export interface ClaimRequest {
  webhook: number
  limit: number
}

/** A delivery to insert. */
interface NewPendingDelivery {
  webhook: number
  event: number
  /** ms; start of the delivery's lifetime */
  since: number
}

interface Deps {
  db: Db
  clock: Clock
  webhooks: Webhooks
}

export class PendingDeliveries {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Inserts deliveries for the oldest undispatched events. @returns how many events, and whether there may be more */
  async fanOut(): Promise<{ events: number; more: boolean }> {
    // Usually there is none, and a read costs less than a write transaction.
    const first = this.#deps.db.read.get('SELECT n FROM events WHERE dispatched = 0 LIMIT 1')
    if (first === undefined) return { events: 0, more: false }
    return this.#deps.db.write((tx) => {
      const events = tx.all<EventRow>(
        'SELECT n, team_id, type, mailbox_id, domain_id, created_at FROM events WHERE dispatched = 0 ORDER BY n LIMIT ?',
        [FAN_OUT_MAX],
      )
      const subscribers = new Map<string, Webhook[]>()
      const deliveries: NewPendingDelivery[] = []
      for (const event of events) {
        const all = subscribers.get(event.team_id) ?? this.#deps.webhooks.enabledOf(tx, event.team_id)
        subscribers.set(event.team_id, all)
        for (const webhook of all)
          if (isSubscribed(webhook, event))
            deliveries.push({ webhook: webhook.n, event: event.n, since: event.created_at })
      }
      this.#add(tx, deliveries)
      const last = events.at(-1)
      if (last !== undefined) tx.run('UPDATE events SET dispatched = 1 WHERE dispatched = 0 AND n <= ?', [last.n])
      return { events: events.length, more: events.length === FAN_OUT_MAX }
    })
  }

  /** The number of events not dispatched yet. */
  countUndispatched(): number {
    const row = this.#deps.db.read.get<{ count: number }>('SELECT count(*) AS count FROM events WHERE dispatched = 0')
    return row!.count
  }

  /** The number of pending deliveries, and for how long (ms) the oldest has been due. */
  async backlog(): Promise<{ pending: number; lagMs: number }> {
    const { db, clock } = this.#deps
    const row = await db.scan.get<{ count: number; oldest: number | null }>(
      'SELECT count(*) AS count, min(due_at) AS oldest FROM webhook_queue',
    )
    return { pending: row!.count, lagMs: row!.oldest === null ? 0 : clock.now() - row!.oldest }
  }

  /**
   * Queues an event again for one subscription, with a new series of attempts.
   * @throws ProductError conflict for an event that the subscription is not sent any more; tests are sent to each
   */
  requeue(tx: Tx, webhook: Webhook, event: number): void {
    const sql = 'SELECT type, mailbox_id, domain_id FROM events WHERE n = ?'
    const row = tx.get<Pick<EventRow, keyof MatchedEvent>>(sql, [event])
    if (row !== undefined && row.type !== 'service.test' && !matchesEvent(webhook, row))
      throw conflict('The webhook is not sent this event any more. Add its type, mailbox or domain first.')
    this.#add(tx, [{ webhook: webhook.n, event, since: this.#deps.clock.now() }])
  }

  /** The same for events that are not queued for the subscription yet. @returns the number of events */
  requeueAll(tx: Tx, webhook: number, events: readonly number[]): number {
    const queued = tx.all<{ event: number }>(
      'SELECT event FROM webhook_queue WHERE webhook = ? AND event IN (SELECT value FROM json_each(?))',
      [webhook, JSON.stringify(events)],
    )
    const known = new Set(queued.map(({ event }) => event))
    const since = this.#deps.clock.now()
    const added = events.filter((event) => !known.has(event)).map((event) => ({ webhook, event, since }))
    this.#add(tx, added)
    return added.length
  }

  /** The subscriptions with due deliveries. */
  due(): number[] {
    const rows = this.#deps.db.read.all<{ webhook: number }>(
      // Skip scan: one index step per subscription, regardless of the length of its queue.
      `WITH RECURSIVE each(webhook) AS (
         SELECT min(webhook) FROM webhook_queue
         UNION ALL
         SELECT (SELECT min(webhook) FROM webhook_queue WHERE webhook > each.webhook) FROM each WHERE each.webhook IS NOT NULL
       )
       SELECT webhook FROM each WHERE webhook IS NOT NULL
         AND EXISTS (SELECT 1 FROM webhook_queue q WHERE q.webhook = each.webhook AND q.due_at <= ?)`,
      [this.#deps.clock.now()],
    )
    return rows.map(({ webhook }) => webhook)
  }

  /**
   * Claims due deliveries of subscriptions in one unit of work, the earliest of each first; the lease keeps others from claiming them.
   * @param requests how many for which subscription
   * @returns the deliveries by subscription; those of one event share its payload
   */
  async claim(requests: readonly ClaimRequest[], lease: string): Promise<Map<number, PendingDelivery[]>> {
    const { db, clock } = this.#deps
    return db.write((tx) => {
      const now = clock.now()
      const rows = requests.flatMap(({ webhook, limit }) =>
        tx.all<PendingRow>(
          `SELECT n, webhook, attempt, ends_at, event FROM webhook_queue
           WHERE webhook = ? AND due_at <= ? ORDER BY due_at, n LIMIT ?`,
          [webhook, now, limit],
        ),
      )
      if (rows.length === 0) return new Map()
      const until = now + LEASE_MS + rows.length * LEASE_PER_DELIVERY_MS
      tx.run('UPDATE webhook_queue SET due_at = ?, lease = ? WHERE n IN (SELECT value FROM json_each(?))', [
        ...[until, lease],
        JSON.stringify(rows.map(({ n }) => n)),
      ])
      const events = eventsOf(tx, new Set(rows.map(({ event }) => event)))
      const deliveries = rows.flatMap(({ n, webhook, attempt, ends_at: endsAt, event: key }) => {
        const event = events.get(key)
        return event === undefined ? [] : [{ webhook, delivery: { n, event, attempt, endsAt } }]
      })
      const byWebhook = Map.groupBy(deliveries, ({ webhook }) => webhook)
      return new Map([...byWebhook].map(([webhook, all]) => [webhook, all.map(({ delivery }) => delivery)]))
    })
  }

  /** Removes delivered and failed deliveries. */
  drop(tx: Tx, ns: readonly number[]): void {
    if (ns.length === 0) return
    tx.run('DELETE FROM webhook_queue WHERE n IN (SELECT value FROM json_each(?))', [JSON.stringify(ns)])
  }

  postpone(tx: Tx, n: number, attempt: number, dueAt: number): void {
    tx.run('UPDATE webhook_queue SET attempt = ?, due_at = ?, lease = NULL WHERE n = ?', [attempt, dueAt, n])
  }

  /** Releases claimed deliveries that were not sent. @param lease default: every lease, for the start of the process */
  async release(lease?: string): Promise<void> {
    const [which, values] = lease === undefined ? ['IS NOT NULL', []] : ['= ?', [lease]]
    await this.#deps.db.write((tx) =>
      tx.run(`UPDATE webhook_queue SET due_at = ?, lease = NULL WHERE lease ${which}`, [
        this.#deps.clock.now(),
        ...values,
      ]),
    )
  }

  /** Makes every delivery due now with a full lifetime, after the clock was wrong: its times may be years off. */
  async reschedule(): Promise<void> {
    const now = this.#deps.clock.now()
    await this.#deps.db.write((tx) =>
      tx.run('UPDATE webhook_queue SET ends_at = ?, due_at = min(due_at, ?) WHERE lease IS NULL', [
        now + LIFETIME_MS,
        now,
      ]),
    )
  }

  /** Drops the deliveries of a deleted or disabled subscription. @returns how many */
  async dropFor(webhook: number): Promise<number> {
    let dropped = 0
    for (;;) {
      const { changes } = await this.#deps.db.write((tx) =>
        tx.run('DELETE FROM webhook_queue WHERE n IN (SELECT n FROM webhook_queue WHERE webhook = ? LIMIT ?)', [
          webhook,
          DROP_BATCH,
        ]),
      )
      dropped += changes
      if (changes < DROP_BATCH) return dropped
    }
  }

  /** Drops the deliveries of all deleted subscriptions. @returns how many */
  async dropOrphans(): Promise<number> {
    const rows = await this.#deps.db.scan.all<{ webhook: number }>(
      'SELECT DISTINCT webhook FROM webhook_queue WHERE webhook NOT IN (SELECT n FROM webhooks)',
    )
    let dropped = 0
    for (const { webhook } of rows) dropped += await this.dropFor(webhook)
    return dropped
  }

  #add(tx: Tx, deliveries: readonly NewPendingDelivery[]): void {
    const now = this.#deps.clock.now()
    const rows = deliveries.map(({ webhook, event, since }) => {
      return { webhook, event, attempt: 1, ends_at: since + LIFETIME_MS, due_at: now }
    })
    insertMany(tx, 'webhook_queue', rows)
  }
}

function eventsOf(tx: Tx, keys: ReadonlySet<number>): Map<number, DispatchedEvent> {
  const rows = tx.all<{ n: number; id: string; type: EventType; body: string; created_at: number }>(
    'SELECT n, id, type, body, created_at FROM events WHERE n IN (SELECT value FROM json_each(?))',
    [JSON.stringify([...keys])],
  )
  return new Map(
    rows.map(({ n, id, type, body, created_at: createdAt }) => [
      n,
      { n, id, type, payload: new Payload(body), createdAt },
    ]),
  )
}

/** Whether an event is for a subscription. `service.test` is only sent by the test route. */
function isSubscribed(webhook: Webhook, event: EventRow): boolean {
  return event.created_at >= webhook.createdAt && matchesEvent(webhook, event)
}
