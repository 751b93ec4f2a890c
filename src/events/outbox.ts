// The event outbox: an event is inserted in the unit of work of the change it reports (transactional outbox).

import { isoTime } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Notifier } from '../base/notifier.ts'
import type { Reader, Tx } from '../db/db.ts'
import { DeferredWrites } from '../db/deferred-writes.ts'
import { insertMany } from '../db/many-rows.ts'
import type { EventType } from './event-types.ts'
import { subscribedTeams } from './webhooks/subscribed-teams.ts'

/** An event to dispatch to webhooks. */
export interface NewEvent {
  teamId: string
  type: EventType
  /** Subscriptions can filter by mailbox or domain; null when the event concerns none. */
  mailboxId: string | null
  domainId: string | null
  /** When it happened, ms. */
  at: number
  /** docs/design/events.md §4, with the member names of the wire format. */
  data: Record<string, unknown>
}

/** An event as stored in the outbox; `n` is its key. */
export interface WrittenEvent {
  n: number
  id: string
  type: EventType
  body: string
  createdAt: number
}

const API_VERSION = '1.0.0'
/** See `Tx.atEnd`. */
const ORDER = 0

export class Outbox {
  readonly #notifier: Notifier
  /** The events of a transaction are inserted together. */
  readonly #rows = new DeferredWrites<EventRow>(insertEvents, ORDER)

  constructor(notifier: Notifier) {
    this.#notifier = notifier
  }

  /** Inserts an event in the unit of work of the change it reports. @returns its id */
  record(tx: Tx, event: NewEvent): string {
    const [id] = this.recordAll(tx, [event])
    return id!
  }

  /** Inserts events in the unit of work of the changes they report. @returns their ids, in order */
  recordAll(tx: Tx, events: readonly NewEvent[]): string[] {
    if (events.length === 0) return []
    const rows = events.map((event) => rowOf(event, 0))
    for (const row of rows) this.#rows.add(tx, row)
    tx.afterCommit(() => {
      if (rows.some(({ dispatched }) => dispatched === 0)) this.#notifier.notify('webhooks')
    })
    return rows.map(({ id }) => id)
  }

  /** Inserts an event that the caller delivers itself. */
  recordDispatched(tx: Tx, event: NewEvent): WrittenEvent {
    const row = rowOf(event, 1)
    const { id, body } = row
    return { n: tx.insert('events', row), id, type: event.type, body, createdAt: event.at }
  }
}

type EventRow = ReturnType<typeof rowOf>

/** Inserts events. Those of teams without an enabled subscription are inserted as dispatched: nothing is left to do for them. */
function insertEvents(tx: Tx, rows: readonly EventRow[]): void {
  const subscribed = subscribedTeams(tx, new Set(rows.map((row) => row.team_id)))
  for (const row of rows) if (!subscribed.has(row.team_id)) row.dispatched = 1
  insertMany(tx, 'events', rows)
}

function rowOf({ teamId, type, mailboxId, domainId, at, data }: NewEvent, dispatched: 0 | 1) {
  const id = newId('event')
  // The exact text that every request sends and signs.
  const body = JSON.stringify({ id, type, created_at: isoTime(at), api_version: API_VERSION, team_id: teamId, data })
  return { id, team_id: teamId, type, mailbox_id: mailboxId, domain_id: domainId, body, created_at: at, dispatched }
}

/** When (ms) the newest event was written; null where there is none. */
export function newestEvent(reader: Reader): number | null {
  const sql = 'SELECT created_at AS at FROM events ORDER BY n DESC LIMIT 1'
  return reader.get<{ at: number }>(sql)?.at ?? null
}
