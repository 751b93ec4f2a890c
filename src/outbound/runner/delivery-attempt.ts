// The hand-overs of one message: acquire the concurrency limits, mark the start, lend the bytes, record each recipient's outcome.

import type { Tx } from '../../db/db.ts'
import type { DeliveryState } from '../log/emails.ts'
import { bounceAddress, sharedSender } from '../model/envelope-sender.ts'
import type { Carrier, Email, Outcome, Provider, RejectionReason, RemoteReply } from '../model/records.ts'
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
} from '../model/transport.ts'
import type { DeliveryOutcome } from '../queue/delivery-transitions.ts'
import type { QueuedDelivery } from '../queue/queue.ts'
import type { AttemptWrites } from './attempt-writes.ts'
import type { DeliveryLimits, LimitKey } from './concurrency.ts'
import { hiddenOf, SignedContent } from './content.ts'
import type { RunnerDeps } from './deps.ts'
import { type DeliveryClock, expiryOf, outcomeOf } from './outcomes.ts'

/** One leased delivery. */
export interface AttemptItem {
  queued: QueuedDelivery
  delivery: DeliveryState
}

/** What the runner provides to the delivery of a message. */
export interface WorkerDeps {
  deps: RunnerDeps
  limits: DeliveryLimits
  writes: AttemptWrites
  /** True when the runner stops and starts no more hand-overs. */
  isStopping(): boolean
  /** Aborted when the time for hand-overs in progress ends during the shutdown. */
  signal: AbortSignal
}

/** The transport and carrier of a hand-over, and why the router chose them. */
interface DeliveryRoute<T> {
  transport: T
  carrier: Carrier
  limitKey: LimitKey
  reason: string
}

/** A route through a sending account. */
export interface AccountRoute extends DeliveryRoute<Transport> {
  provider: Provider
}

/** The account refuses a message of that size, or a forwarded one as it is; another account may accept it. */
interface Unfit {
  kind: 'unfit'
  items: AttemptItem[]
  reply: RemoteReply
}

/** Maximum wait in ms for a slot of the recipient domain, and after how long the message is tried again then. */
const SLOT_WAIT_MS = 5000
const REQUEUE_MS = 15_000

/** The hand-overs of one message. */
export class DeliveryAttempt {
  readonly #worker: WorkerDeps
  readonly #deps: RunnerDeps
  readonly #email: Email
  readonly #content: SignedContent
  /** Deliveries whose attempt has been counted: a second account belongs to the same attempt. */
  readonly #counted = new Set<number>()

  constructor(worker: WorkerDeps, email: Email) {
    this.#worker = worker
    this.#deps = worker.deps
    this.#email = email
    this.#content = new SignedContent(worker.deps, worker.limits, email)
  }

  /** Sets the Date field of what is sent (ms): the time at which an approved message leaves. Null leaves it as composed. */
  dateBy(at: number | null): void {
    this.#content.date = at
  }

  /**
   * The deliveries by hand-over: those that share an envelope sender go together, others alone. Each recipient with an address of its own
   * costs a transaction; with a common one, every recipient could report for all others.
   * @param provider null for our own MTA
   */
  groupsOf(items: readonly AttemptItem[], provider: Provider | null): (readonly AttemptItem[])[] {
    return sharedSender(this.#email, provider) === null ? items.map((item) => [item]) : [items]
  }

  /** Hands over through an account and records the outcomes. @returns a failure that another account may not have */
  async sendByAccount(items: readonly AttemptItem[], route: AccountRoute): Promise<Unavailable | Unfit | null> {
    const { provider, limitKey, transport } = route
    const result = await this.#lend(limitKey, items, route, async (bytes, kept) => {
      const hidden = provider.type === 'smtp' ? [] : hiddenOf(bytes, recipientsOf(kept))
      return { kept, handed: await transport.hand({ ...this.#handover(kept, limitKey, provider), bytes, hidden }) }
    })
    if (result === null) return null
    const { kept, handed } = result
    if (this.#worker.signal.aborted) return this.#recordAborted(kept, handed, route)
    if (handed.kind === 'unavailable') return handed
    const refused = await this.#recordAnswer(kept, handed, route)
    await this.#noteSuccess(provider)
    return refused
  }

  /** Delivers to mailboxes of the appliance. The outcomes are recorded in the same unit of work. */
  async deliverLocally(items: readonly AttemptItem[], route: DeliveryRoute<LocalTransport>): Promise<void> {
    const { limitKey, transport, carrier } = route
    const result = await this.#lend(limitKey, items, route, async (bytes, kept) => {
      const record = (tx: Tx, answered: Answered) => this.#apply(tx, kept, this.#outcomesOf(kept, answered), carrier)
      return { kept, handed: await transport.hand({ ...this.#handover(kept, limitKey), bytes, record }) }
    })
    if (result === null || result.handed.isRecorded) return
    await this.recordOutcomes(result.kept, this.#outcomesOf(result.kept, result.handed), carrier, [])
  }

  /**
   * Hands over to a remote mail server. MX lookup and connecting hold only the slot of the domain, not a transfer of the team
   * and not the bytes of the message.
   * @returns why no attempt was made; null after an attempt
   */
  async sendDirect(items: readonly AttemptItem[], route: DeliveryRoute<DirectTransport>): Promise<NotTried | null> {
    const { limitKey, transport, carrier } = route
    const marked: AttemptItem[] = []
    const release = await this.#acquireSlot(limitKey)
    if (release === null) return { kind: 'not_tried', until: this.#deps.clock.now() + REQUEUE_MS, failure: null }
    const isUrgent = items.some(({ queued }) => queued.isUrgent)
    const offered = { ...this.#handover(items, limitKey), isUrgent, lend: this.#lender(items, marked, route) }
    const handed = this.#worker.isStopping() ? null : await transport.hand(offered).finally(release)
    if (handed === null) release()
    if (handed === null || handed.kind === 'not_tried') return handed
    if (this.#worker.signal.aborted) return this.#recordAborted(items, handed, route)
    if (handed.isUnroutable) {
      await this.recordOutcomes(items, this.#outcomesOf(items, handed), carrier)
      return null
    }
    // An attempt counts even when no server could be reached.
    const kept = marked.length > 0 ? marked : await this.#mark(items, route)
    const outcomes = this.#outcomesOf(items, handed)
    const isKept = (_: unknown, index: number) => kept.includes(items[index]!)
    await this.recordOutcomes(kept, outcomes.filter(isKept), carrier)
    return null
  }

  /** @returns null when no message to that domain has ended for too long: waiting messages keep those to others from starting */
  async #acquireSlot(limitKey: LimitKey): Promise<(() => void) | null> {
    const { limits } = this.#worker
    const free = limits.acquireSlotNow(limitKey)
    if (free !== null) return free
    const acquired = limits.acquireSlot(limitKey)
    const { promise: late, resolve } = Promise.withResolvers<null>()
    const timer = this.#deps.clock.after(SLOT_WAIT_MS, () => resolve(null))
    const release = await Promise.race([acquired, late])
    timer.cancel()
    if (release === null) void acquired.then((unused) => unused())
    return release
  }

  /** @param marked receives the deliveries marked as handed over, on the first transfer */
  #lender(
    items: readonly AttemptItem[],
    marked: AttemptItem[],
    route: DeliveryRoute<DirectTransport>,
  ): DirectHandover['lend'] {
    const { limits, isStopping } = this.#worker
    return async (use) => {
      const end = once(await limits.acquireTransfer(route.limitKey.team))
      try {
        if (isStopping()) return null
        return await this.#content.lend(async (bytes, done) => {
          if (marked.length === 0) marked.push(...(await this.#mark(items, route)))
          const onSent = () => {
            done()
            end()
          }
          return marked.length === 0 ? null : use(bytes, recipientsOf(marked), onSent)
        })
      } finally {
        end()
      }
    }
  }

  /** Calls `use` with the limits acquired, the deliveries marked and the bytes. Outcomes are recorded after the limits' release. */
  async #lend<T>(
    limitKey: LimitKey,
    items: readonly AttemptItem[],
    route: DeliveryRoute<unknown>,
    use: (bytes: Uint8Array, kept: AttemptItem[]) => Promise<T>,
  ): Promise<T | null> {
    const release = await this.#worker.limits.acquire(limitKey)
    try {
      if (this.#worker.isStopping()) return null
      return await this.#content.lend(async (bytes) => {
        const kept = await this.#mark(items, route)
        // All deliveries may have been canceled in the meantime.
        return kept.length === 0 ? null : use(bytes, kept)
      })
    } finally {
      release()
    }
  }

  /** Marks deliveries as handed over before the first byte is sent: after a crash their outcome is unknown. */
  async #mark(items: readonly AttemptItem[], { carrier, reason }: DeliveryRoute<unknown>): Promise<AttemptItem[]> {
    const byN = new Map(items.map((item) => [item.delivery.n, item]))
    const start = { deliveries: [...byN.keys()], counted: this.#counted, carrier, reason }
    const held = await this.#worker.writes.start(start)
    return held.map((n) => {
      const item = byN.get(n)!
      if (!this.#counted.has(n)) item.delivery = { ...item.delivery, attempts: item.delivery.attempts + 1 }
      this.#counted.add(n)
      return item
    })
  }

  #handover(
    items: readonly AttemptItem[],
    limitKey: LimitKey,
    provider: Provider | null = null,
  ): Omit<Handover, 'bytes'> {
    const { id, from, returnPath, internetMessageId, source, isChanged = false } = this.#email
    return {
      emailId: id,
      from: from.email,
      mailFrom: limitKey.kind === 'local' ? (returnPath ?? from.email) : this.#senderOf(items, provider),
      recipients: recipientsOf(items),
      hidden: [],
      internetMessageId,
      isForwarded: source === 'forward',
      isChanged,
      uncertain: items.some(({ queued }) => queued.uncertain),
      signal: this.#worker.signal,
    }
  }

  /** @param items one of the groups of `groupsOf` */
  #senderOf([first]: readonly AttemptItem[], provider: Provider | null): string {
    const { vault, config } = this.#deps
    return sharedSender(this.#email, provider) ?? bounceAddress(vault, config, first!.delivery.n)
  }

  #outcomesOf(items: readonly AttemptItem[], handed: Answered): Outcome[] {
    const now = this.#deps.clock.now()
    return items.map(({ delivery }, index) => outcomeOf(handed, index, this.clockOf(delivery, now)))
  }

  /** Records the outcomes, except for recipients for whom the caller tries another account. */
  async #recordAnswer(items: readonly AttemptItem[], handed: Answered, route: AccountRoute): Promise<Unfit | null> {
    const outcomes = this.#outcomesOf(items, handed)
    const isUnfit = (index: number) => this.#isUnfit(outcomes[index]!)
    const said = items.filter((_, index) => !isUnfit(index))
    const others = outcomes.filter((_, index) => !isUnfit(index))
    await this.recordOutcomes(said, others, route.carrier, handed.remoteIds)
    const first = items.findIndex((_, index) => isUnfit(index))
    if (first < 0) return null
    const left = items.filter((_, index) => isUnfit(index))
    return { kind: 'unfit', items: left, reply: handed.verdicts[first]!.reply }
  }

  /** A relay may refuse the From field of a forwarded message: that concerns neither the recipient nor other routes. */
  #isUnfit(outcome: Outcome): boolean {
    if (isRejectedFor('message_too_large', outcome)) return true
    return this.#email.source === 'forward' && isRejectedFor('content_refused', outcome)
  }

  /**
   * Ends a hand-over aborted by the shutdown: final verdicts of the carrier are recorded. Deliveries without one stay marked as
   * handed over, so that the next runner treats their outcome as unknown.
   */
  async #recordAborted(
    items: readonly AttemptItem[],
    handed: Handed,
    { carrier }: DeliveryRoute<unknown>,
  ): Promise<null> {
    const { db, queue, clock } = this.#deps
    if (handed.kind === 'unavailable') {
      await db.write((tx) => each(items, ({ delivery }) => queue.postpone(tx, delivery.n, clock.now())))
      return null
    }
    const isSaid = (_: AttemptItem, index: number) => handed.verdicts[index]?.kind !== 'later'
    const outcomes = this.#outcomesOf(items, handed)
    await this.recordOutcomes(
      items.filter(isSaid),
      outcomes.filter((_, index) => isSaid(items[index]!, index)),
      carrier,
      handed.remoteIds,
    )
    return null
  }

  async #noteSuccess(provider: Provider): Promise<void> {
    await this.#deps.providers.noteSuccess(provider)
    await this.#deps.providers.noteUsed(provider)
  }

  clockOf(delivery: DeliveryState, now: number): DeliveryClock {
    const expiresAt = () => expiryOf(this.#deps, this.#email)
    return {
      attempts: delivery.attempts,
      now,
      // Only failures ask for it, and the answer takes a system call.
      get expiresAt() {
        return expiresAt()
      },
    }
  }

  /** Records the outcomes of all recipients in one unit of work, together with those of other messages. */
  async recordOutcomes(
    items: readonly AttemptItem[],
    outcomes: readonly Outcome[],
    carrier: Carrier | null,
    remoteIds: readonly string[] = [],
  ): Promise<void> {
    if (items.length === 0) return
    const said = outcomesFor(items, outcomes, carrier)
    await this.#worker.writes.record({ email: this.#email.n, outcomes: said, remoteIds })
  }

  #apply(tx: Tx, items: readonly AttemptItem[], outcomes: readonly Outcome[], carrier: Carrier | null): void {
    this.#deps.transitions.applyAll(tx, outcomesFor(items, outcomes, carrier))
  }
}

function outcomesFor(
  items: readonly AttemptItem[],
  outcomes: readonly Outcome[],
  carrier: Carrier | null,
): DeliveryOutcome[] {
  return items.map(({ delivery }, index) => ({ delivery: delivery.n, outcome: outcomes[index]!, carrier }))
}

function once(release: () => void): () => void {
  let isReleased = false
  return () => {
    if (!isReleased) release()
    isReleased = true
  }
}

function recipientsOf(items: readonly AttemptItem[]): string[] {
  return items.map(({ delivery }) => delivery.to)
}

function isRejectedFor(reason: RejectionReason, outcome: Outcome): boolean {
  return outcome.kind === 'rejected' && outcome.reason === reason
}

/** Runs `run` for each element. */
export function each<T>(list: readonly T[], run: (one: T) => unknown): void {
  for (const one of list) run(one)
}
