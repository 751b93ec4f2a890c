// The hand-overs of one message: a place at the carrier, the mark that it begins, the bytes, and the outcome of each recipient.

import type { Tx } from '../../db/db.ts'
import { bounceAddress } from '../bounce-address.ts'
import { envelopeSender } from '../envelope-sender.ts'
import type { DeliveryState } from '../log/emails.ts'
import type { Waiting } from '../queue.ts'
import type { Carrier, Email, Outcome, Provider, RejectionReason, Reply } from '../records.ts'
import type {
  Answered,
  DirectHandover,
  DirectTransport,
  Handed,
  Handover,
  LocalTransport,
  NotTried,
  Transport,
  Unavailable,
} from '../transports/transport.ts'
import type { Places, Spot } from './concurrency.ts'
import { Content, hiddenOf } from './content.ts'
import type { RunnerParts } from './deps.ts'
import { outcomeOf, type Standing } from './outcomes.ts'
import { endOf } from './schedule.ts'

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
export interface Way<T> {
  transport: T
  carrier: Carrier
  spot: Spot
  reason: string
}

/** Through a sending account. */
export interface AccountWay extends Way<Transport> {
  provider: Provider
}

/** The account does not take a message of that size; another one may. */
export interface TooLarge {
  kind: 'too_large'
  items: Item[]
  reply: Reply
}

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

  /** Hands over and writes down what was said. @returns what another account may do better */
  async goByAccount(items: readonly Item[], way: AccountWay): Promise<Unavailable | TooLarge | null> {
    const { provider, spot, transport } = way
    const gone = await this.#lend(spot, items, way, async (bytes, kept) => {
      const hidden = provider.type === 'smtp' ? [] : hiddenOf(bytes, recipientsOf(kept))
      return { kept, handed: await transport.hand({ ...this.#handover(kept, spot, provider), bytes, hidden }) }
    })
    if (gone === null) return null
    const { kept, handed } = gone
    if (this.#guide.signal.aborted) return this.#breakOff(kept, handed, way)
    if (handed.kind === 'unavailable') return handed
    const refused = await this.#settle(kept, handed, way)
    await this.#noteWell(provider)
    return refused
  }

  /** Stores copies in mailboxes of the appliance. What became of the deliveries is part of the same unit of work. */
  async goLocal(items: readonly Item[], way: Way<LocalTransport>): Promise<void> {
    const { spot, transport, carrier } = way
    const gone = await this.#lend(spot, items, way, async (bytes, kept) => {
      const record = (tx: Tx, answered: Answered) => this.#apply(tx, kept, this.#outcomesOf(kept, answered), carrier)
      return { kept, handed: await transport.hand({ ...this.#handover(kept, spot), bytes, record }) }
    })
    if (gone === null || gone.handed.isRecorded) return
    await this.writeDown(gone.kept, this.#outcomesOf(gone.kept, gone.handed), carrier, [])
  }

  /**
   * Hands over to a mail server of others. While servers are looked for and connected to there is only the place at the domain:
   * the team has its transfers, and memory its bytes.
   * @returns why nothing was tried
   */
  async goDirect(items: readonly Item[], way: Way<DirectTransport>): Promise<NotTried | null> {
    const { spot, transport, carrier } = way
    const marked: Item[] = []
    const leave = await this.#guide.places.takeSpot(spot)
    const isUrgent = items.some(({ waiting }) => waiting.isUrgent)
    const offered = { ...this.#handover(items, spot), isUrgent, lend: this.#lender(items, marked, way) }
    const handed = this.#guide.isOver() ? null : await transport.hand(offered).finally(leave)
    if (handed === null) leave()
    if (handed === null || handed.kind === 'not_tried') return handed
    if (this.#guide.signal.aborted) return this.#breakOff(items, handed, way)
    // A try counts also where nobody could be reached.
    const kept = marked.length > 0 ? marked : await this.#mark(items, way)
    const outcomes = this.#outcomesOf(items, handed)
    const isKept = (_: unknown, index: number) => kept.includes(items[index]!)
    await this.writeDown(kept, outcomes.filter(isKept), carrier)
    return null
  }

  /** @param marked gets those that are handed over, with the first transfer */
  #lender(items: readonly Item[], marked: Item[], way: Way<DirectTransport>): DirectHandover['lend'] {
    const { places, isOver } = this.#guide
    return async (use) => {
      const end = await places.takeTransfer(way.spot.team)
      try {
        if (isOver()) return null
        return await this.#content.lend(async (bytes) => {
          if (marked.length === 0) marked.push(...(await this.#mark(items, way)))
          return marked.length === 0 ? null : use(bytes, recipientsOf(marked))
        })
      } finally {
        end()
      }
    }
  }

  /** Lends a place, the mark and the bytes. The place is for the next message while this one is written down. */
  async #lend<T>(
    spot: Spot,
    items: readonly Item[],
    way: Way<unknown>,
    use: (bytes: Uint8Array, kept: Item[]) => Promise<T>,
  ): Promise<T | null> {
    const leave = await this.#guide.places.take(spot)
    try {
      if (this.#guide.isOver()) return null
      return await this.#content.lend(async (bytes) => {
        const kept = await this.#mark(items, way)
        // All of it may have been given up meanwhile.
        return kept.length === 0 ? null : use(bytes, kept)
      })
    } finally {
      leave()
    }
  }

  /** Before anything leaves it is written down that it is about to: after a crash nobody could say. */
  async #mark(items: readonly Item[], { carrier, reason }: Way<unknown>): Promise<Item[]> {
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

  #handover(items: readonly Item[], spot: Spot, provider: Provider | null = null): Omit<Handover, 'bytes'> {
    const { vault, config } = this.#parts
    const { id, n, from, returnPath, internetMessageId } = this.#email
    const outside = () => envelopeSender(this.#email, provider, bounceAddress(vault, config, n))
    return {
      emailId: id,
      from: from.email,
      mailFrom: spot.kind === 'local' ? (returnPath ?? from.email) : outside(),
      recipients: recipientsOf(items),
      hidden: [],
      internetMessageId,
      uncertain: items.some(({ waiting }) => waiting.uncertain),
      signal: this.#guide.signal,
    }
  }

  #outcomesOf(items: readonly Item[], handed: Answered): Outcome[] {
    const now = this.#parts.clock.now()
    return items.map(({ delivery }, index) => outcomeOf(handed, index, this.standing(delivery, now)))
  }

  /** Writes down what was said, but for a message that is too large there: with that the caller goes on. */
  async #settle(items: readonly Item[], handed: Answered, way: AccountWay): Promise<TooLarge | null> {
    const outcomes = this.#outcomesOf(items, handed)
    const isTooLarge = (index: number) => isRejectedFor('message_too_large', outcomes[index]!)
    const said = items.filter((_, index) => !isTooLarge(index))
    const others = outcomes.filter((_, index) => !isTooLarge(index))
    await this.writeDown(said, others, way.carrier, handed.remoteIds)
    const first = items.findIndex((_, index) => isTooLarge(index))
    if (first < 0) return null
    const left = items.filter((_, index) => isTooLarge(index))
    return { kind: 'too_large', items: left, reply: handed.verdicts[first]!.reply }
  }

  /**
   * The house closes and has waited long enough: what a carrier still said counts. What it may have taken or not stays marked
   * as handed over, so that the next runner knows that nobody knows.
   */
  async #breakOff(items: readonly Item[], handed: Handed, { carrier }: Way<unknown>): Promise<null> {
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
    return { attempts: delivery.attempts, now, expiresAt: endOf(this.#parts, this.#email) }
  }

  /** One unit of work for all recipients; units of other mails travel with it. */
  async writeDown(
    items: readonly Item[],
    outcomes: readonly Outcome[],
    carrier: Carrier | null,
    remoteIds: readonly string[] = [],
  ): Promise<void> {
    const { db, emails } = this.#parts
    if (items.length === 0) return
    await db.write(async (tx: Tx) => {
      await emails.rememberIds(tx, this.#email.n, remoteIds)
      await this.#apply(tx, items, outcomes, carrier)
    })
  }

  async #apply(tx: Tx, items: readonly Item[], outcomes: readonly Outcome[], carrier: Carrier | null): Promise<void> {
    const { fate } = this.#parts
    for (const [index, { delivery }] of items.entries()) await fate.apply(tx, delivery.n, outcomes[index]!, carrier)
  }
}

function recipientsOf(items: readonly Item[]): string[] {
  return items.map(({ delivery }) => delivery.to)
}

function isRejectedFor(reason: RejectionReason, outcome: Outcome): boolean {
  return outcome.kind === 'rejected' && outcome.reason === reason
}

/** One after another. */
export async function each<T>(list: readonly T[], run: (one: T) => Promise<unknown>): Promise<void> {
  for (const one of list) await run(one)
}
