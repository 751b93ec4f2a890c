// The event outbox: an event is inserted in the unit of work of the change it reports (transactional outbox).

import { isoTime } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Notifier } from '../base/notifier.ts'
import type { Reader, Tx } from '../db/db.ts'

/** Specification §6. */
export type EventType =
  | 'message.delivered'
  | 'message.bounced'
  | 'message.complained'
  | 'message.rejected'
  | 'message.delivery_delayed'
  | 'message.received'
  | 'message.received.spam'
  | 'service.test'

/** An event to dispatch to webhooks. */
export interface NewEvent {
  teamId: string
  type: EventType
  /** Subscriptions can filter by mailbox or domain; null when the event concerns none. */
  mailboxId: string | null
  domainId: string | null
  /** When it happened, ms. */
  at: number
  /** Decisions §9.4, with the member names of the wire format. */
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

export class Outbox {
  readonly #notifier: Notifier

  constructor(notifier: Notifier) {
    this.#notifier = notifier
  }

  /** Inserts an event in the unit of work of the change it reports. @returns its id */
  async record(tx: Tx, event: NewEvent): Promise<string> {
    const { id } = await this.#insert(tx, event, 0)
    tx.afterCommit(() => this.#notifier.notify('webhooks'))
    return id
  }

  /** Inserts an event that the caller delivers itself. */
  recordDispatched(tx: Tx, event: NewEvent): Promise<WrittenEvent> {
    return this.#insert(tx, event, 1)
  }

  async #insert(tx: Tx, event: NewEvent, dispatched: 0 | 1): Promise<WrittenEvent> {
    const id = newId('event')
    const { teamId, type, at, data } = event
    // The exact text that every request sends and signs.
    const body = JSON.stringify({ id, type, created_at: isoTime(at), api_version: API_VERSION, team_id: teamId, data })
    const n = await tx.insert('events', {
      id,
      team_id: teamId,
      type,
      mailbox_id: event.mailboxId,
      domain_id: event.domainId,
      body,
      created_at: at,
      dispatched,
    })
    return { n, id, type, body, createdAt: at }
  }
}

/** When (ms) the newest event was written; null where there is none. */
export async function newestEvent(reader: Reader): Promise<number | null> {
  const sql = 'SELECT created_at AS at FROM events ORDER BY n DESC LIMIT 1'
  return (await reader.get<{ at: number }>(sql))?.at ?? null
}
