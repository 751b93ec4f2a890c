// What happened, written down with its fact: an event is durable when what it tells of is, and not before.

import { isoTime } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Wake } from '../base/wake.ts'
import type { Tx } from '../db/db.ts'

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

const API_VERSION = '1.0.0'

export class Outbox {
  readonly #wake: Wake

  constructor(wake: Wake) {
    this.#wake = wake
  }

  /** Writes one event in the unit of work that makes its fact. @returns its id */
  async record(tx: Tx, event: NewEvent): Promise<string> {
    const id = newId('event')
    const { teamId, type, at, data } = event
    // The exact text that is sent and signed, whoever asks for it and when.
    const body = { id, type, created_at: isoTime(at), api_version: API_VERSION, team_id: teamId, data }
    await tx.insert('events', {
      id,
      team_id: teamId,
      type,
      mailbox_id: event.mailboxId,
      domain_id: event.domainId,
      body: JSON.stringify(body),
      created_at: at,
    })
    tx.afterCommit(() => this.#wake.ring('webhooks'))
    return id
  }
}
