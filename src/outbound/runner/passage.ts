// One hand-over: a place at the carrier, the mark that it begins, the bytes, and what was said of each recipient written down.

import type { Tx } from '../../db/db.ts'
import { bounceAddress } from '../bounce-address.ts'
import { envelopeSender } from '../envelope-sender.ts'
import type { DeliveryState } from '../log/emails.ts'
import type { Waiting } from '../queue.ts'
import type { Carrier, Email, Outcome, Provider } from '../records.ts'
import type { Handed, Handover, Transport } from '../transports/transport.ts'
import { Content, hiddenOf } from './content.ts'
import { outcomeOf, type Standing } from './outcomes.ts'
import type { RunnerParts } from './parts.ts'
import type { Places, Spot } from './places.ts'

/** One delivery in hand. */
export interface Item {
  waiting: Waiting
  delivery: DeliveryState
}

/** What a journey needs of the runner that sends it off. */
export interface Guide {
  parts: RunnerParts
  places: Places
  /** Name of the hand that holds the leases. */
  token: string
  /** True when nothing more is to be handed over. */
  isOver(): boolean
  /** Aborted when patience with what is under way has run out. */
  signal: AbortSignal
}

/** How to go, and why. */
export interface Way {
  transport: Transport
  carrier: Carrier
  spot: Spot
  reason: string
  provider: Provider | null
}

type Answered = Extract<Handed, { kind: 'answered' }>
export type Unavailable = Extract<Handed, { kind: 'unavailable' }>

/** The hand-overs of one mail. */
export class Passage {
  readonly #guide: Guide
  readonly #parts: RunnerParts
  readonly #email: Email
  readonly #content: Content
  /** Deliveries whose try has been counted: another account is part of the same one. */
  readonly #counted = new Set<number>()

  constructor(guide: Guide, email: Email) {
    this.#guide = guide
    this.#parts = guide.parts
    this.#email = email
    this.#content = new Content(guide.parts, guide.places, email)
  }

  /** Hands over and writes down what was said. @returns the failure of a carrier that did not look at the mail */
  async go(items: readonly Item[], way: Way): Promise<Unavailable | null> {
    const gone = await this.#hand(items, way)
    if (gone === null) return null
    const { kept, handed } = gone
    if (this.#guide.signal.aborted) return this.#breakOff(kept, handed, way)
    if (handed.kind === 'unavailable') return handed
    await this.writeDown(kept, this.#outcomesOf(kept, handed), way.carrier, handed.remoteIds)
    if (way.provider !== null) await this.#noteWell(way.provider)
    return null
  }

  /** The place is for the next mail while this one is written down. @returns null when nothing was handed over */
  async #hand(items: readonly Item[], way: Way): Promise<{ kept: Item[]; handed: Handed } | null> {
    const leave = await this.#guide.places.take(way.spot)
    try {
      if (this.#guide.isOver()) return null
      return await this.#content.lend(async (bytes) => {
        const kept = await this.#mark(items, way)
        // All of it may have been given up meanwhile.
        return kept.length === 0 ? null : { kept, handed: await way.transport.hand(this.#handover(kept, bytes, way)) }
      })
    } finally {
      leave()
    }
  }

  /** Before anything leaves it is written down that it is about to: after a crash nobody could say. */
  async #mark(items: readonly Item[], { carrier, reason }: Way): Promise<Item[]> {
    const { db, queue, emails } = this.#parts
    const byN = new Map(items.map((item) => [item.delivery.n, item]))
    const held = await db.write(async (tx) => {
      const ns = await queue.markHanded(tx, this.#guide.token, [...byN.keys()])
      const uncounted = ns.filter((n) => !this.#counted.has(n))
      await emails.noteAttempt(tx, uncounted, null)
      await emails.noteRoute(tx, ns, carrier, reason)
      return ns
    })
    return held.map((n) => {
      const item = byN.get(n)!
      if (!this.#counted.has(n)) item.delivery = { ...item.delivery, attempts: item.delivery.attempts + 1 }
      this.#counted.add(n)
      return item
    })
  }

  #handover(items: readonly Item[], bytes: Uint8Array, { spot, provider }: Way): Handover {
    const { vault, config } = this.#parts
    const { id, n, from, returnPath, internetMessageId } = this.#email
    const recipients = items.map(({ delivery }) => delivery.to)
    const outside = () => envelopeSender(this.#email, provider, bounceAddress(vault, config, n))
    return {
      emailId: id,
      from: from.email,
      mailFrom: spot.kind === 'local' ? (returnPath ?? from.email) : outside(),
      recipients,
      hidden: provider !== null && provider.type !== 'smtp' ? hiddenOf(bytes, recipients) : [],
      bytes,
      internetMessageId,
      uncertain: items.some(({ waiting }) => waiting.uncertain),
      signal: this.#guide.signal,
    }
  }

  #outcomesOf(items: readonly Item[], handed: Answered): Outcome[] {
    const now = this.#parts.clock.now()
    return items.map(({ delivery }, index) => outcomeOf(handed, index, this.standing(delivery, now)))
  }

  /**
   * The house closes and has waited long enough: what a carrier still said counts. What it may have taken or not stays marked
   * as handed over, so that the next runner knows that nobody knows.
   */
  async #breakOff(items: readonly Item[], handed: Handed, { carrier }: Way): Promise<null> {
    const { db, queue, clock } = this.#parts
    if (handed.kind === 'unavailable') {
      await db.write((tx) => each(items, ({ delivery }) => queue.postpone(tx, delivery.n, clock.now())))
      return null
    }
    const isSaid = (_: Item, index: number) => handed.verdicts[index]?.kind !== 'later'
    const outcomes = this.#outcomesOf(items, handed)
    await this.writeDown(
      items.filter(isSaid),
      outcomes.filter((_, index) => isSaid(items[index]!, index)),
      carrier,
      handed.remoteIds,
    )
    return null
  }

  async #noteWell(provider: Provider): Promise<void> {
    await this.#parts.providers.noteSuccess(provider)
    await this.#parts.providers.noteUsed(provider)
  }

  standing(delivery: DeliveryState, now: number): Standing {
    return { attempts: delivery.attempts, now, expiresAt: this.#email.expiresAt }
  }

  /** One unit of work for all recipients; units of other mails travel with it. */
  async writeDown(
    items: readonly Item[],
    outcomes: readonly Outcome[],
    carrier: Carrier | null,
    remoteIds: readonly string[] = [],
  ): Promise<void> {
    const { db, emails, fate } = this.#parts
    if (items.length === 0) return
    await db.write(async (tx: Tx) => {
      await emails.rememberIds(tx, this.#email.n, remoteIds)
      for (const [index, { delivery }] of items.entries()) await fate.apply(tx, delivery.n, outcomes[index]!, carrier)
    })
  }
}

/** One after another. */
export async function each<T>(list: readonly T[], run: (one: T) => Promise<unknown>): Promise<void> {
  for (const one of list) await run(one)
}
