// Counts events of messages in the unit of work that records them, so that no event is counted twice or lost.

import { HOUR_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import { DeferredWrites } from '../../db/deferred-writes.ts'
import { countTags, type TaggedEvent } from './tags.ts'
import { type CountRow, type Counts, Tally, zeroCounts } from './tally.ts'

/** An event of one copy of a message, with the dimensions it is counted by. */
export interface CountedEvent {
  teamId: string
  /** When it happened, ms. */
  at: number
  /** The sending account; null before one is chosen, and for inbound messages. */
  provider: { id: string; name: string | null } | null
  mailboxId: string | null
  /** Of the sender for outbound messages, of the recipient for inbound ones. */
  domain: string
  isOwnDomain: boolean
  recipientDomain: string
  /** Reason code; few distinct values. */
  reason: string | null
  /** Tags of the message as JSON; null without any. */
  tags?: string | null
  counts: Partial<Counts>
}

/** Runs before the other deferred writes. */
const WRITE_ORDER = -1

export class Counters {
  readonly #rows = new DeferredWrites<CountRow>((tx, rows) => {
    const tally = new Tally()
    for (const row of rows) tally.add(row)
    tally.write(tx)
  }, WRITE_ORDER)
  readonly #tagged = new DeferredWrites<TaggedEvent>(countTags, WRITE_ORDER)

  /** Counts an event as part of a unit of work. All events of a transaction are written together at its end. */
  count(tx: Tx, event: CountedEvent): void {
    this.#rows.add(tx, rowOf(event))
    if (event.tags) this.#tagged.add(tx, { ...event, tags: event.tags })
  }
}

function rowOf(event: CountedEvent): CountRow {
  return {
    hours: 1,
    start: Math.floor(event.at / HOUR_MS),
    team_id: event.teamId,
    provider_id: event.provider?.id ?? '',
    mailbox_id: event.mailboxId ?? '',
    domain: event.domain.toLowerCase(),
    own_domain: event.isOwnDomain ? 1 : 0,
    recipient_domain: event.recipientDomain.toLowerCase(),
    event_reason: event.reason ?? '',
    provider_name: event.provider?.name ?? '',
    ...zeroCounts(),
    ...event.counts,
  }
}
