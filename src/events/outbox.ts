// What happened, written down with its fact: an event is durable when what it tells of is, and not before.

import { isoTime } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Wake } from '../base/notifier.ts'
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

/** A fact about to be told outside. */
export interface NewEvent {
  teamId: string
  type: EventType
  /** Subscriptions can be narrowed to a mailbox or a domain; null where the fact is about none. */
  mailboxId: string | null
  domainId: string | null
  /** When it happened, ms. */
  at: number
  /** Decisions §9.4, in the words of the wire. */
  data: Record<string, unknown>
}

/** An event as it lies in the outbox; `n` is its key. */
export interface WrittenEvent {
  n: number
  id: string
  type: EventType
  body: string
  createdAt: number
}

const API_VERSION = '1.0.0'

export class Outbox {
  readonly #wake: Wake

  constructor(wake: Wake) {
    this.#wake = wake
  }

  /** Writes one event in the unit of work that makes its fact. @returns its id */
  async record(tx: Tx, event: NewEvent): Promise<string> {
    const { id } = await this.#insert(tx, event, 0)
    tx.afterCommit(() => this.#wake.ring('webhooks'))
    return id
  }

  /** Writes an event that whoever makes it tells by himself. */
  recordTold(tx: Tx, event: NewEvent): Promise<WrittenEvent> {
    return this.#insert(tx, event, 1)
  }

  async #insert(tx: Tx, event: NewEvent, told: 0 | 1): Promise<WrittenEvent> {
    const id = newId('event')
    const { teamId, type, at, data } = event
    // The exact text that is sent and signed, whoever asks for it and when.
    const body = JSON.stringify({ id, type, created_at: isoTime(at), api_version: API_VERSION, team_id: teamId, data })
    const n = await tx.insert('events', {
      id,
      team_id: teamId,
      type,
      mailbox_id: event.mailboxId,
      domain_id: event.domainId,
      body,
      created_at: at,
      told,
    })
    return { n, id, type, body, createdAt: at }
  }
}

/** When (ms) the newest event was written; null where there is none. */
export async function newestEvent(reader: Reader): Promise<number | null> {
  const sql = 'SELECT created_at AS at FROM events ORDER BY n DESC LIMIT 1'
  return (await reader.get<{ at: number }>(sql))?.at ?? null
}
