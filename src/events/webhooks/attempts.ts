// Webhook delivery attempts: one immutable row each, kept for thirty days.

import type { WrongSpan } from '../../base/clock-guard.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { redateRows } from '../../db/redate.ts'
import { Where } from '../../db/sql-text.ts'
import type { RowOf } from '../../db/table.ts'
import type { EventType } from '../event-types.ts'
import {
  type Attempt,
  type AttemptDetail,
  type AttemptResult,
  type DispatchedEvent,
  WEBHOOK_ATTEMPTS,
  type Webhook,
} from './records.ts'
import { matchesEventSql } from './subscription-match.ts'

/** The values of a new attempt row. */
export interface NewAttempt {
  webhook: number
  event: DispatchedEvent
  result: AttemptResult
  responseStatus: number
  responseMs: number
  attempt: number
  maxAttempts: number
  nextRetryAt: number | null
  errorMessage: string | null
  responseBody: string | null
  requestHeaders: Record<string, string>
  payloadExpiresAt: number
  createdAt: number
}

export interface AttemptFilter {
  eventType?: EventType
  result?: AttemptResult
  eventId?: string
  limit: number
  after: PageKey | null
}

/** Days the rows are kept (docs/design/events.md §5). */
export const ATTEMPT_RETENTION_DAYS = 30
const PRUNE_BATCH = 1000
const COLUMNS = WEBHOOK_ATTEMPTS.of('a')
const OF_WEBHOOK = WEBHOOK_ATTEMPTS.and('webhook')
const WITH_REQUEST = WEBHOOK_ATTEMPTS.and('request_headers')

export class Attempts {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Inserts attempts with few statements. @returns the ids of their rows, in the order given */
  insertAll(tx: Tx, all: readonly NewAttempt[]): string[] {
    const records = all.map(recordOf)
    WEBHOOK_ATTEMPTS.insertAll(tx, records)
    return records.map(({ id }) => id)
  }

  /** Newest first. */
  async list(webhook: number, filter: AttemptFilter): Promise<Page<Attempt>> {
    const where = new Where().add('a.webhook = ?', webhook)
    if (filter.eventType !== undefined) where.add('a.event_type = ?', filter.eventType)
    if (filter.result !== undefined) where.add('a.result = ?', filter.result)
    if (filter.eventId !== undefined) where.add('a.event_id = ?', filter.eventId)
    if (filter.after !== null) where.add('(a.created_at, a.n) < (?, ?)', ...filter.after)
    const isShort = filter.eventType === undefined && filter.result === undefined
    const rows = await (isShort ? this.#db.read : this.#db.scan).all<RowOf<typeof WEBHOOK_ATTEMPTS>>(
      `SELECT ${COLUMNS} FROM webhook_attempts a WHERE ${where.sql} ORDER BY a.created_at DESC, a.n DESC LIMIT ?`,
      [...where.values, filter.limit + 1],
    )
    return pageOf(rows, filter.limit, (row) => [row.created_at, row.n], WEBHOOK_ATTEMPTS.record)
  }

  /** The attempts of some events to some subscriptions, oldest first, at most `limit`. Reads by index. */
  ofEvents(
    webhooks: readonly Webhook[],
    eventIds: readonly string[],
    limit: number,
  ): (Attempt & { webhook: number })[] {
    return OF_WEBHOOK.all(
      this.#db.read,
      `WHERE webhook IN (SELECT value FROM json_each(?)) AND event_id IN (SELECT value FROM json_each(?))
       ORDER BY created_at, n LIMIT ?`,
      [JSON.stringify(webhooks.map(({ n }) => n)), JSON.stringify(eventIds), limit],
    )
  }

  /**
   * Keys of events whose last attempt failed for good and whose payload is kept, oldest first. Tests, events that are queued
   * again, and those that the subscription is not sent any more are not included.
   * @param since ms, when the attempt ended @param now ms
   */
  async failedEvents(webhook: Webhook, since: number, now: number, limit: number): Promise<number[]> {
    const { condition, values } = matchesEventSql(webhook)
    const rows = await this.#db.scan.all<{ event: number }>(
      `SELECT a.event FROM webhook_attempts a JOIN events e ON e.n = a.event AND e.id = a.event_id
       WHERE a.webhook = ? AND a.created_at >= ? AND a.result IN ('failed', 'permanent_failure')
         AND a.payload_expires_at > ? AND a.event_type <> 'service.test' AND ${condition}
         AND NOT EXISTS (SELECT 1 FROM webhook_queue q WHERE q.event = a.event AND q.webhook = a.webhook)
         AND NOT EXISTS (SELECT 1 FROM webhook_attempts l WHERE l.webhook = a.webhook AND l.event_id = a.event_id AND l.n > a.n)
       ORDER BY a.created_at, a.n LIMIT ?`,
      [webhook.n, since, now, ...values, limit],
    )
    return rows.map(({ event }) => event)
  }

  /** An attempt with its request. @param now ms; an expired payload is null */
  get(webhook: number, id: string, now: number): AttemptDetail | undefined {
    const row = this.#db.read.get<RowOf<typeof WITH_REQUEST> & { body: string | null }>(
      `SELECT ${WITH_REQUEST.of('a')}, e.body FROM webhook_attempts a LEFT JOIN events e ON e.n = a.event AND e.id = a.event_id
       WHERE a.id = ? AND a.webhook = ?`,
      [id, webhook],
    )
    if (row === undefined) return undefined
    return { ...WITH_REQUEST.record(row), payload: row.payload_expires_at > now ? row.body : null }
  }

  /** Dates attempts of a wrong clock as of now (ms): they are kept as long as others. */
  redate(wrong: WrongSpan, now: number): Promise<number> {
    return redateRows(this.#db, { table: 'webhook_attempts', column: 'created_at' }, wrong, now)
  }

  /** Deletes rows older than `before` (ms), and those of deleted subscriptions. @returns how many */
  async prune(before: number): Promise<number> {
    let deleted = 0
    for (;;) {
      const { changes } = await this.#db.write((tx) =>
        tx.run(
          `DELETE FROM webhook_attempts WHERE n IN (SELECT n FROM webhook_attempts WHERE created_at < ?
             OR webhook NOT IN (SELECT n FROM webhooks) LIMIT ?)`,
          [before, PRUNE_BATCH],
        ),
      )
      deleted += changes
      if (changes < PRUNE_BATCH) return deleted
    }
  }
}

function recordOf({ event, ...attempt }: NewAttempt) {
  return {
    ...attempt,
    id: newId('webhookAttempt'),
    event: event.n,
    eventId: event.id,
    eventType: event.type,
    payloadBytes: event.payload.bytes.length,
    payloadSha256: event.payload.sha256,
  }
}
