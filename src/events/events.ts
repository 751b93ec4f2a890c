// Reads the outbox: the events of a team in the order they were committed, for polling and catching up.

import type { Db, Row } from '../db/db.ts'
import { type Page, type PageKey, pageOf } from '../db/page.ts'
import { Where } from '../db/sql-text.ts'
import type { EventType } from './event-types.ts'

/** Events listed for one delivery. */
const DELIVERY_EVENTS_MAX = 50

export interface EventFilter {
  type?: EventType
  mailboxId?: string
  /** ms, inclusive. */
  from?: number
  /** ms, exclusive. */
  to?: number
  /** Only events after this one (`evt_…`). */
  afterId?: string
}

/** The kind of an event, and whose it is. */
export interface TeamEvent {
  teamId: string
  type: EventType
}

/** An event as it is sent to webhooks. */
export interface EventBody {
  id: string
  type: EventType
  created_at: string
  api_version: string
  team_id: string
  data: Record<string, unknown>
}

export class Events {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** Oldest first. */
  async list(
    teamId: string,
    filter: EventFilter,
    { limit, after }: { limit: number; after: PageKey | null },
  ): Promise<Page<EventBody>> {
    const where = new Where().add('team_id = ?', teamId)
    if (filter.type !== undefined) where.add('type = ?', filter.type)
    if (filter.mailboxId !== undefined) where.add('mailbox_id = ?', filter.mailboxId)
    if (filter.from !== undefined) where.add('created_at >= ?', filter.from)
    if (filter.to !== undefined) where.add('created_at < ?', filter.to)
    if (filter.afterId !== undefined) where.add('n > (SELECT n FROM events WHERE id = ?)', filter.afterId)
    if (after !== null) where.add('n > ?', after[0])
    // These filters may match few events, so that the query examines many.
    const given = [filter.type, filter.mailboxId, filter.from, filter.to]
    const isShort = given.every((one) => one === undefined)
    const rows = await (isShort ? this.#db.read : this.#db.scan).all<{ n: number; body: string }>(
      `SELECT n, body FROM events WHERE ${where.sql} ORDER BY n LIMIT ?`,
      [...where.values, limit + 1],
    )
    return pageOf(
      rows,
      limit,
      ({ n }) => [n, n],
      ({ body }) => JSON.parse(body) as EventBody,
    )
  }

  /**
   * The events of one delivery, oldest first, at most {@link DELIVERY_EVENTS_MAX}.
   * @param id `dlog_…`
   * @param times of its steps, ms: each event was recorded together with a step
   */
  ofDelivery(teamId: string, id: string, times: readonly number[]): EventBody[] {
    const rows = this.#db.read.all<{ body: string }>(
      `SELECT body FROM events WHERE created_at IN (SELECT value FROM json_each(?)) AND team_id = ?
         AND body ->> '$.data.delivery_log_id' = ? ORDER BY n LIMIT ?`,
      [JSON.stringify(times), teamId, id, DELIVERY_EVENTS_MAX],
    )
    return rows.map(({ body }) => JSON.parse(body) as EventBody)
  }

  /** The number of the newest event of all teams; 0 without events. */
  newestNumber(): number {
    return this.#db.read.get<{ n: number | null }>('SELECT max(n) AS n FROM events')?.n ?? 0
  }

  /** Kinds of the events of these teams after a number, at most `limit`. */
  typesAfter(n: number, teamIds: readonly string[], limit: number): TeamEvent[] {
    const sql = `SELECT team_id AS teamId, type FROM events
      WHERE n > ? AND team_id IN (SELECT value FROM json_each(?)) ORDER BY n LIMIT ?`
    return this.#db.read.all<TeamEvent & Row>(sql, [n, JSON.stringify(teamIds), limit])
  }

  /** The number of the newest event of a team; 0 when there is none. See {@link since}. */
  newest(teamId: string): number {
    const row = this.#db.read.get<{ n: number }>('SELECT n FROM events WHERE team_id = ? ORDER BY n DESC LIMIT 1', [
      teamId,
    ])
    return row?.n ?? 0
  }

  /** The newest events of a team, oldest first. @param types none for all */
  last(teamId: string, limit: number, types: readonly string[]): EventBody[] {
    const rows = this.#db.read.all<{ body: string }>(
      `SELECT body FROM events WHERE team_id = ? AND (? = 0 OR type IN (SELECT value FROM json_each(?)))
         ORDER BY n DESC LIMIT ?`,
      [teamId, types.length, JSON.stringify(types), limit],
    )
    return rows.map(({ body }) => JSON.parse(body) as EventBody).reverse()
  }

  /** The events after one, each with its number, oldest first. */
  since(teamId: string, n: number, limit: number): { n: number; event: EventBody }[] {
    const rows = this.#db.read.all<{ n: number; body: string }>(
      'SELECT n, body FROM events WHERE team_id = ? AND n > ? ORDER BY n LIMIT ?',
      [teamId, n, limit],
    )
    return rows.map(({ n: number, body }) => ({ n: number, event: JSON.parse(body) as EventBody }))
  }

  /** Undefined when the team has no such event, or it is no longer kept. */
  get(teamId: string, id: string): EventBody | undefined {
    const row = this.#db.read.get<{ body: string }>('SELECT body FROM events WHERE id = ? AND team_id = ?', [
      id,
      teamId,
    ])
    return row && (JSON.parse(row.body) as EventBody)
  }
}
