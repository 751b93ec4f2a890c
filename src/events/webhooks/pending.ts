// Events on their way: spread from the outbox over the subscriptions that asked for them, and taken from there in turn.

import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { EventType } from '../outbox.ts'
import type { Waiting as WaitingEvent, Webhook } from './records.ts'
import { LIFETIME_MS } from './schedule.ts'
import type { Webhooks } from './subscriptions.ts'

/** Events spread in one transaction. */
const SPREAD_MAX = 500
/** How long a try may take before somebody else makes it, in ms: well above the time limit of a request. */
const LEASE_MS = 60_000
const DROP_BATCH = 1000
/** Tellings put into the queue by one statement. */
const ADD_MAX = 100

interface EventRow {
  n: number
  team_id: string
  type: EventType
  mailbox_id: string | null
  domain_id: string | null
  created_at: number
}

interface WaitingRow {
  n: number
  attempt: number
  ends_at: number
  event: number
  id: string
  type: EventType
  body: string
  created_at: number
}

/** A telling to be. */
interface Wanted {
  webhook: number
  event: number
  /** ms, since when it is wanted */
  since: number
}

interface Parts {
  db: Db
  clock: Clock
  webhooks: Webhooks
}

export class Waiting {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Spreads the oldest events nobody has been told of. @returns how many; fewer than asked for means that none is left */
  async spread(): Promise<{ spread: number; more: boolean }> {
    // Asked far more often than there is one: a look costs less than a transaction.
    const first = await this.#parts.db.read.get('SELECT n FROM events WHERE told = 0 LIMIT 1')
    if (first === undefined) return { spread: 0, more: false }
    return this.#parts.db.write(async (tx) => {
      const events = await tx.all<EventRow>(
        'SELECT n, team_id, type, mailbox_id, domain_id, created_at FROM events WHERE told = 0 ORDER BY n LIMIT ?',
        [SPREAD_MAX],
      )
      const subscribers = new Map<string, Webhook[]>()
      const wanted: Wanted[] = []
      for (const event of events) {
        const all = subscribers.get(event.team_id) ?? (await this.#parts.webhooks.enabledOf(tx, event.team_id))
        subscribers.set(event.team_id, all)
        for (const webhook of all)
          if (asksFor(webhook, event)) wanted.push({ webhook: webhook.n, event: event.n, since: event.created_at })
      }
      for (let at = 0; at < wanted.length; at += ADD_MAX) await this.#add(tx, wanted.slice(at, at + ADD_MAX))
      const last = events.at(-1)
      if (last !== undefined) await tx.run('UPDATE events SET told = 1 WHERE told = 0 AND n <= ?', [last.n])
      return { spread: events.length, more: events.length === SPREAD_MAX }
    })
  }

  /** How many events nobody has been told of yet. */
  async untold(): Promise<number> {
    const row = await this.#parts.db.read.get<{ count: number }>('SELECT count(*) AS count FROM events WHERE told = 0')
    return row!.count
  }

  /** How many tellings wait, and for how long (ms) the oldest due one has been due. */
  async backlog(): Promise<{ waiting: number; lagMs: number }> {
    const { db, clock } = this.#parts
    const row = await db.scan.get<{ count: number; oldest: number | null }>(
      'SELECT count(*) AS count, min(due_at) AS oldest FROM webhook_queue',
    )
    return { waiting: row!.count, lagMs: row!.oldest === null ? 0 : clock.now() - row!.oldest }
  }

  /** Tells an event once more to one subscription, as a new series. */
  async again(tx: Tx, webhook: number, event: number): Promise<void> {
    await this.#add(tx, [{ webhook, event, since: this.#parts.clock.now() }])
  }

  /** The subscriptions that have something due. */
  async due(): Promise<number[]> {
    const rows = await this.#parts.db.read.all<{ webhook: number }>(
      // From one subscription to the next along the index, however much waits for each.
      `WITH RECURSIVE each(webhook) AS (
         SELECT min(webhook) FROM webhook_queue
         UNION ALL
         SELECT (SELECT min(webhook) FROM webhook_queue WHERE webhook > each.webhook) FROM each WHERE each.webhook IS NOT NULL
       )
       SELECT webhook FROM each WHERE webhook IS NOT NULL
         AND EXISTS (SELECT 1 FROM webhook_queue q WHERE q.webhook = each.webhook AND q.due_at <= ?)`,
      [this.#parts.clock.now()],
    )
    return rows.map(({ webhook }) => webhook)
  }

  /** Takes what is due for one subscription, the earliest first: nobody else tries it while the lease lasts. */
  async take(webhook: number, limit: number, lease: string): Promise<WaitingEvent[]> {
    const { db, clock } = this.#parts
    return db.write(async (tx) => {
      const now = clock.now()
      const rows = await tx.all<WaitingRow>(
        `SELECT q.n, q.attempt, q.ends_at, q.event, e.id, e.type, e.body, e.created_at
         FROM webhook_queue q JOIN events e ON e.n = q.event
         WHERE q.webhook = ? AND q.due_at <= ? ORDER BY q.due_at, q.n LIMIT ?`,
        [webhook, now, limit],
      )
      if (rows.length > 0) {
        const ns = rows.map(({ n }) => n)
        await tx.run(`UPDATE webhook_queue SET due_at = ?, lease = ? WHERE n IN (${marksOf(ns)})`, [
          ...[now + LEASE_MS, lease],
          ...ns,
        ])
      }
      return rows.map(({ n, attempt, ends_at, event, id, type, body, created_at }) => ({
        n,
        event: { n: event, id, type, body, createdAt: created_at },
        attempt,
        endsAt: ends_at,
      }))
    })
  }

  /** Done with: told, or given up. */
  async dropAll(tx: Tx, ns: readonly number[]): Promise<void> {
    if (ns.length > 0) await tx.run(`DELETE FROM webhook_queue WHERE n IN (${marksOf(ns)})`, ns)
  }

  async postpone(tx: Tx, n: number, attempt: number, dueAt: number): Promise<void> {
    await tx.run('UPDATE webhook_queue SET attempt = ?, due_at = ?, lease = NULL WHERE n = ?', [attempt, dueAt, n])
  }

  /** Gives back what was taken and not tried: under one lease, or, at the start, under whatever lease an earlier life had. */
  async giveBack(lease?: string): Promise<void> {
    const [which, values] = lease === undefined ? ['IS NOT NULL', []] : ['= ?', [lease]]
    await this.#parts.db.write((tx) =>
      tx.run(`UPDATE webhook_queue SET due_at = ?, lease = NULL WHERE lease ${which}`, [
        this.#parts.clock.now(),
        ...values,
      ]),
    )
  }

  /** Has everything tried now and gives it a day more, after the clock was wrong: its times may be years off. */
  async redate(): Promise<void> {
    const now = this.#parts.clock.now()
    await this.#parts.db.write((tx) =>
      tx.run('UPDATE webhook_queue SET ends_at = ?, due_at = min(due_at, ?) WHERE lease IS NULL', [
        now + LIFETIME_MS,
        now,
      ]),
    )
  }

  /** Drops what waits for subscriptions that are gone or switched off. @returns how many */
  async dropUnwanted(webhook: number): Promise<number> {
    let dropped = 0
    for (;;) {
      const { changes } = await this.#parts.db.write((tx) =>
        tx.run('DELETE FROM webhook_queue WHERE n IN (SELECT n FROM webhook_queue WHERE webhook = ? LIMIT ?)', [
          webhook,
          DROP_BATCH,
        ]),
      )
      dropped += changes
      if (changes < DROP_BATCH) return dropped
    }
  }

  /** Drops what waits for subscriptions that are no longer there. @returns how many */
  async dropOrphans(): Promise<number> {
    const rows = await this.#parts.db.scan.all<{ webhook: number }>(
      'SELECT DISTINCT webhook FROM webhook_queue WHERE webhook NOT IN (SELECT n FROM webhooks)',
    )
    let dropped = 0
    for (const { webhook } of rows) dropped += await this.dropUnwanted(webhook)
    return dropped
  }

  async #add(tx: Tx, wanted: readonly Wanted[]): Promise<void> {
    const now = this.#parts.clock.now()
    await tx.run(
      `INSERT INTO webhook_queue (webhook, event, attempt, ends_at, due_at) VALUES ${wanted.map(() => '(?, ?, 1, ?, ?)').join(', ')}`,
      wanted.flatMap(({ webhook, event, since }) => [webhook, event, since + LIFETIME_MS, now]),
    )
  }
}

function marksOf(list: readonly unknown[]): string {
  return list.map(() => '?').join(', ')
}

/** Whether a subscription wants an event. `service.test` comes from the test route alone. */
function asksFor(webhook: Webhook, event: EventRow): boolean {
  const { eventTypes, mailboxIds, domainIds, createdAt } = webhook
  if (event.created_at < createdAt) return false
  if (!eventTypes.includes('*') && !eventTypes.includes(event.type)) return false
  if (mailboxIds === null && domainIds === null) return true
  // Narrowed by either: one match is enough.
  return (
    (mailboxIds?.includes(event.mailbox_id ?? '') ?? false) || (domainIds?.includes(event.domain_id ?? '') ?? false)
  )
}
