// Counts what happens to mail, in the unit of work in which it happens: no fact is counted twice, and none is lost.

import type { Tx } from '../../db/db.ts'
import { DeferredWrites } from '../../db/deferred-writes.ts'
import { type CountRow, type Counts, HOUR_MS, noCounts, Tally } from './tally.ts'

/** Something that happened to one copy of a mail. */
export interface Fact {
  teamId: string
  /** When it happened, ms. */
  at: number
  /** The account it went through; null before one was chosen, and for mail that comes. */
  provider: { id: string; name: string | null } | null
  mailboxId: string | null
  /** Of the sender for mail that goes, of the recipient for mail that comes. */
  domain: string
  isOwnDomain: boolean
  recipientDomain: string
  /** Why, one of few words. */
  reason: string | null
  counts: Partial<Counts>
}

/** Before the work others put off. */
const PLACE = -1

export class Counters {
  readonly #rows = new DeferredWrites<CountRow>(async (tx, rows) => {
    const tally = new Tally()
    for (const row of rows) tally.add(row)
    await tally.write(tx)
  }, PLACE)

  /** Counts a fact as part of a unit of work. One statement serves all facts of a kind within a transaction. */
  count(tx: Tx, fact: Fact): void {
    this.#rows.add(tx, rowOf(fact))
  }
}

function rowOf(fact: Fact): CountRow {
  return {
    hours: 1,
    start: Math.floor(fact.at / HOUR_MS),
    team_id: fact.teamId,
    provider_id: fact.provider?.id ?? '',
    mailbox_id: fact.mailboxId ?? '',
    domain: fact.domain.toLowerCase(),
    own_domain: fact.isOwnDomain ? 1 : 0,
    recipient_domain: fact.recipientDomain.toLowerCase(),
    event_reason: fact.reason ?? '',
    provider_name: fact.provider?.name ?? '',
    ...noCounts(),
    ...fact.counts,
  }
}
