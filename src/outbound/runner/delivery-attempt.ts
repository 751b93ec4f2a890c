// The hand-overs of one message: acquire the concurrency limits, mark the start, lend the bytes, record each recipient's outcome.

import type { Tx } from '../../db/db.ts'
import { bounceAddress } from '../bounce-address.ts'
import { envelopeSender } from '../envelope-sender.ts'
import type { DeliveryState } from '../log/emails.ts'
import type { QueuedDelivery } from '../queue.ts'
import type { Carrier, Email, Outcome, Provider, RejectionReason, RemoteReply } from '../records.ts'
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
import type { DeliveryLimits, LimitKey } from './concurrency.ts'
import { hiddenOf, SignedContent } from './content.ts'
import type { RunnerDeps } from './deps.ts'
import { type DeliveryClock, outcomeOf } from './outcomes.ts'
import { endOf } from './schedule.ts'

/** One leased delivery. */
export interface Item {
  waiting: QueuedDelivery
  delivery: DeliveryState
}

/** What the runner provides to the delivery of a message. */
export interface WorkerDeps {
  deps: RunnerDeps
  places: DeliveryLimits
  /** Token of the runner's leases. */
  token: string
  /** True when the runner stops and starts no more hand-overs. */
  isOver(): boolean
  /** Aborted when the time for hand-overs in progress ends during the shutdown. */
  signal: AbortSignal
}

/** The transport and carrier of a hand-over, and why the router chose them. */
export interface DeliveryRoute<T> {
  transport: T
  carrier: Carrier
  spot: LimitKey
  reason: string
}

/** A route through a sending account. */
export interface AccountRoute extends DeliveryRoute<Transport> {
  provider: Provider
}

/** The account refuses a message of that size; another account may accept it. */
export interface TooLarge {
  kind: 'too_large'
  items: Item[]
  reply: RemoteReply
}

/** The hand-overs of one message. */
export class DeliveryAttempt {
  readonly #guide: WorkerDeps
  readonly #deps: RunnerDeps
  readonly #email: Email
  readonly #content: SignedContent
  /** Deliveries whose attempt has been counted: a second account belongs to the same attempt. */
  readonly #counted = new Set<number>()

  constructor(guide: WorkerDeps, email: Email) {
    this.#guide = guide
    this.#deps = guide.deps
    this.#email = email
    this.#content = new SignedContent(guide.deps, guide.places, email)
  }

  /** Hands over through an account and records the outcomes. @returns a failure that another account may not have */
  async goByAccount(items: readonly Item[], way: AccountRoute): Promise<Unavailable | TooLarge | null> {
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

  /** Delivers to mailboxes of the appliance. The outcomes are recorded in the same unit of work. */
  async goLocal(items: readonly Item[], way: DeliveryRoute<LocalTransport>): Promise<void> {
    const { spot, transport, carrier } = way
    const gone = await this.#lend(spot, items, way, async (bytes, kept) => {
      const record = (tx: Tx, answered: Answered) => this.#apply(tx, kept, this.#outcomesOf(kept, answered), carrier)
      return { kept, handed: await transport.hand({ ...this.#handover(kept, spot), bytes, record }) }
    })
    if (gone === null || gone.handed.isRecorded) return
    await this.writeDown(gone.kept, this.#outcomesOf(gone.kept, gone.handed), carrier, [])
  }

  /**
   * Hands over to a remote mail server. MX lookup and connecting hold only the slot of the domain, not a transfer of the team
   * and not the bytes of the message.
   * @returns why no attempt was made; null after an attempt
   */
  async goDirect(items: readonly Item[], way: DeliveryRoute<DirectTransport>): Promise<NotTried | null> {
    const { spot, transport, carrier } = way
    const marked: Item[] = []
    const leave = await this.#guide.places.takeSpot(spot)
    const isUrgent = items.some(({ waiting }) => waiting.isUrgent)
    const offered = { ...this.#handover(items, spot), isUrgent, lend: this.#lender(items, marked, way) }
    const handed = this.#guide.isOver() ? null : await transport.hand(offered).finally(leave)
    if (handed === null) leave()
    if (handed === null || handed.kind === 'not_tried') return handed
    if (this.#guide.signal.aborted) return this.#breakOff(items, handed, way)
    // An attempt counts even when no server could be reached.
    const kept = marked.length > 0 ? marked : await this.#mark(items, way)
    const outcomes = this.#outcomesOf(items, handed)
    const isKept = (_: unknown, index: number) => kept.includes(items[index]!)
    await this.writeDown(kept, outcomes.filter(isKept), carrier)
    return null
  }

  /** @param marked receives the deliveries marked as handed over, on the first transfer */
  #lender(items: readonly Item[], marked: Item[], way: DeliveryRoute<DirectTransport>): DirectHandover['lend'] {
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

  /** Calls `use` with the limits acquired, the deliveries marked and the bytes. Outcomes are recorded after the limits' release. */
  async #lend<T>(
    spot: LimitKey,
    items: readonly Item[],
    way: DeliveryRoute<unknown>,
    use: (bytes: Uint8Array, kept: Item[]) => Promise<T>,
  ): Promise<T | null> {
    const leave = await this.#guide.places.take(spot)
    try {
      if (this.#guide.isOver()) return null
      return await this.#content.lend(async (bytes) => {
        const kept = await this.#mark(items, way)
        // All deliveries may have been cancelled in the meantime.
        return kept.length === 0 ? null : use(bytes, kept)
      })
    } finally {
      leave()
    }
  }

  /** Marks deliveries as handed over before the first byte is sent: after a crash their outcome is unknown. */
  async #mark(items: readonly Item[], { carrier, reason }: DeliveryRoute<unknown>): Promise<Item[]> {
    const { db, queue, emails } = this.#deps
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

  #handover(items: readonly Item[], spot: LimitKey, provider: Provider | null = null): Omit<Handover, 'bytes'> {
    const { vault, config } = this.#deps
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
    const now = this.#deps.clock.now()
    return items.map(({ delivery }, index) => outcomeOf(handed, index, this.standing(delivery, now)))
  }

  /** Records the outcomes, except for recipients whose message is too large: the caller tries another account for them. */
  async #settle(items: readonly Item[], handed: Answered, way: AccountRoute): Promise<TooLarge | null> {
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
   * Ends a hand-over aborted by the shutdown: final verdicts of the carrier are recorded. Deliveries without one stay marked as
   * handed over, so that the next runner treats their outcome as unknown.
   */
  async #breakOff(items: readonly Item[], handed: Handed, { carrier }: DeliveryRoute<unknown>): Promise<null> {
    const { db, queue, clock } = this.#deps
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
    await this.#deps.providers.noteSuccess(provider)
    await this.#deps.providers.noteUsed(provider)
  }

  standing(delivery: DeliveryState, now: number): DeliveryClock {
    return { attempts: delivery.attempts, now, expiresAt: endOf(this.#deps, this.#email) }
  }

  /** Records the outcomes of all recipients in one unit of work, which shares a group commit with other messages. */
  async writeDown(
    items: readonly Item[],
    outcomes: readonly Outcome[],
    carrier: Carrier | null,
    remoteIds: readonly string[] = [],
  ): Promise<void> {
    const { db, emails } = this.#deps
    if (items.length === 0) return
    await db.write(async (tx: Tx) => {
      await emails.rememberIds(tx, this.#email.n, remoteIds)
      await this.#apply(tx, items, outcomes, carrier)
    })
  }

  async #apply(tx: Tx, items: readonly Item[], outcomes: readonly Outcome[], carrier: Carrier | null): Promise<void> {
    const { fate } = this.#deps
    for (const [index, { delivery }] of items.entries()) await fate.apply(tx, delivery.n, outcomes[index]!, carrier)
  }
}

function recipientsOf(items: readonly Item[]): string[] {
  return items.map(({ delivery }) => delivery.to)
}

function isRejectedFor(reason: RejectionReason, outcome: Outcome): boolean {
  return outcome.kind === 'rejected' && outcome.reason === reason
}

/** Runs `run` for each element, sequentially. */
export async function each<T>(list: readonly T[], run: (one: T) => Promise<unknown>): Promise<void> {
  for (const one of list) await run(one)
}
