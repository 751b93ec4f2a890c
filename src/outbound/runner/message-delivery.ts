// The delivery of one message: admission, routing, signing, hand-over, and recording each recipient's outcome.

import { randomInt } from 'node:crypto'
import type { QueuedDelivery } from '../queue.ts'
import type { Carrier, Email, Outcome, Provider, RemoteReply } from '../records.ts'
import type { NotTried, Unavailable } from '../transports/transport.ts'
import { admit } from './admission.ts'
import type { LimitKey } from './concurrency.ts'
import { type AccountRoute, DeliveryAttempt, each, type Item, type WorkerDeps } from './delivery-attempt.ts'
import type { Decision, KnownDomainStatus, RunnerDeps } from './deps.ts'
import { ownReply, putOff, putOffUntil } from './outcomes.ts'
import { endOf } from './schedule.ts'

/** A wait for a quota window up to this long is not logged as a delay, in ms. */
const SHORT_WAIT_MS = 60_000
/** How long messages of a suspended sender are skipped, in ms. */
const HOLD_MS = 30_000
const LOCAL: Carrier = { id: null, name: 'Local delivery' }
const DIRECT: Carrier = { id: null, name: 'Direct delivery' }

/** The deliveries of a message that were not handed over and return to the queue. */
export interface UnsentDeliveries {
  waiting: readonly QueuedDelivery[]
  /** Until when (ms) all messages of the origin wait, too; null when only its domains have full waiting lists. */
  until: number | null
  /** Deliveries with their own due times. */
  aside: readonly QueuedDelivery[]
}

const NOTHING_LEFT: UnsentDeliveries = { waiting: [], until: null, aside: [] }
/** Spreads the retries of messages deferred for the same reason over this share of the wait. */
const SPREAD = 0.1

/** The replies of the sending accounts in one attempt. */
interface Tried {
  /** Ids of accounts that failed, and of accounts that refuse a message of that size. */
  failed: Set<string>
  tooSmall: Set<string>
  failure: Unavailable | null
  refusal: RemoteReply | null
}

export class MessageDelivery {
  readonly #guide: WorkerDeps
  readonly #deps: RunnerDeps
  readonly #email: Email
  readonly #passage: DeliveryAttempt

  constructor(guide: WorkerDeps, email: Email) {
    this.#guide = guide
    this.#deps = guide.deps
    this.#email = email
    this.#passage = new DeliveryAttempt(guide, email)
  }

  /**
   * Attempts the due deliveries of the message. The caller returns the result to the queue; the other deliveries are settled,
   * or, during a shutdown, still leased.
   */
  async run(waiting: readonly QueuedDelivery[]): Promise<UnsentDeliveries> {
    const items = await this.#itemsOf(waiting)
    const admission = await admit(this.#deps, this.#email)
    if (admission.kind === 'hold') return restOf(items, this.#deps.clock.now() + HOLD_MS)
    if (admission.kind === 'cancelled') return this.#settleAll(items, { kind: 'cancelled' })
    if (admission.kind === 'expired') {
      const text = items[0]?.delivery.lastReply ?? 'It could not be handed over for two days.'
      return this.#settleAll(items, { kind: 'expired', reply: ownReply(text) })
    }
    const [near, far] = await this.#split(items, admission.isProven)
    // A failure of one path must not leave the other one unawaited.
    const [, rest] = await allOf([
      this.#sendNear(near),
      far.length > 0 ? this.#sendFar(far, admission.domain) : NOTHING_LEFT,
    ])
    return rest!
  }

  async #itemsOf(waiting: readonly QueuedDelivery[]): Promise<Item[]> {
    const { emails, queue, db } = this.#deps
    const states = new Map((await emails.deliveriesOf(this.#email.n)).map((delivery) => [delivery.n, delivery]))
    const isOpen = (one: QueuedDelivery) => states.get(one.delivery)?.status === 'pending'
    const ended = waiting.filter((one) => !isOpen(one))
    // Deliveries in a final state leave the queue.
    if (ended.length > 0) await db.write((tx) => each(ended, (one) => queue.drop(tx, one.delivery)))
    return waiting.filter(isOpen).map((one) => ({ waiting: one, delivery: states.get(one.delivery)! }))
  }

  /** Only messages from a verified domain are delivered locally; others are sent out and come back over SMTP. */
  async #split(items: readonly Item[], isProven: boolean): Promise<[near: Item[], far: Item[]]> {
    if (!isProven) return [[], [...items]]
    const { domains } = this.#deps.directory
    const here = new Set<string>()
    for (const name of new Set(items.map(({ waiting }) => waiting.lane))) {
      if ((await domains.byName(name)) !== undefined) here.add(name)
    }
    const { near = [], far = [] } = Object.groupBy(items, ({ waiting }) => (here.has(waiting.lane) ? 'near' : 'far'))
    return [near, far]
  }

  async #sendNear(items: readonly Item[]): Promise<UnsentDeliveries> {
    if (items.length === 0) return NOTHING_LEFT
    const spot: LimitKey = { kind: 'local', name: '', team: this.#email.teamId }
    const transport = this.#deps.transports.local()
    await this.#passage.goLocal(items, { transport, carrier: LOCAL, spot, reason: 'The mailbox is here.' })
    return NOTHING_LEFT
  }

  /** Tries one account after another until one accepts or refuses the message. */
  async #sendFar(items: readonly Item[], found: KnownDomainStatus): Promise<UnsentDeliveries> {
    const { router, providers } = this.#deps
    const tried: Tried = { failed: new Set(), tooSmall: new Set(), failure: null, refusal: null }
    let left = items
    for (let domain = found; ; domain = null) {
      // After an attempt the domain status may be stale, so the router reads it again.
      const decision = await router.decide(this.#email, left.length, tried.failed, domain, tried.tooSmall)
      if (decision.kind !== 'provider') return this.#endFar(left, decision, tried)
      const { provider } = decision
      const handed = await this.#passage.goByAccount(left, await this.#wayBy(provider, decision.reason))
      if (handed === null) return NOTHING_LEFT
      if (handed.kind === 'too_large') {
        tried.tooSmall.add(provider.id)
        tried.refusal = handed.reply
        left = handed.items
      } else {
        await providers.noteFailure(provider, handed.stage, handed.reply)
        tried.failed.add(provider.id)
        tried.failure = handed
      }
    }
  }

  /** No account is left to try. */
  #endFar(
    items: readonly Item[],
    decision: Exclude<Decision, { kind: 'provider' }>,
    tried: Tried,
  ): Promise<UnsentDeliveries> {
    if (tried.failure !== null) return this.#defer(items, tried.failure)
    if (decision.kind === 'direct') return this.#sendDirect(items, decision.reason)
    if (decision.kind === 'wait') return this.#wait(items, decision, tried.refusal !== null)
    const detail = tried.refusal === null ? decision.detail : `${decision.detail} ${tried.refusal.text}`
    return this.#settleAll(items, { kind: 'rejected', reason: decision.reason, detail })
  }

  async #wayBy(provider: Provider, reason: string): Promise<AccountRoute> {
    const spot: LimitKey = { kind: 'provider', name: provider.id, team: this.#email.teamId }
    return { transport: await this.#deps.transports.of(provider), carrier: provider, spot, reason, provider }
  }

  /** Delivers to each recipient domain concurrently and independently. */
  async #sendDirect(items: readonly Item[], reason: string): Promise<UnsentDeliveries> {
    const transport = this.#deps.transports.direct()
    const rests = [...Map.groupBy(items, ({ waiting }) => waiting.lane)].map(async ([name, own]) => {
      const spot: LimitKey = { kind: 'domain', name, team: this.#email.teamId }
      if (this.#guide.places.isCrowded(spot)) return restOf(own, null)
      const untried = await this.#passage.goDirect(own, { transport, carrier: DIRECT, spot, reason })
      return untried === null ? NOTHING_LEFT : this.#putAside(own, untried)
    })
    const all = await allOf(rests)
    const aside = all.flatMap((rest) => rest.aside)
    return { waiting: all.flatMap(({ waiting }) => waiting), until: null, aside }
  }

  /** A destination in backoff is recorded as a delay and does not count as an attempt. */
  async #putAside(items: readonly Item[], { until, failure }: NotTried): Promise<UnsentDeliveries> {
    const now = this.#deps.clock.now()
    const dueAt = () => until + Math.round((until - now) * SPREAD * (randomInt(1000) / 1000))
    if (failure === null) {
      return { ...NOTHING_LEFT, aside: items.map(({ waiting }) => ({ ...waiting, dueAt: dueAt() })) }
    }
    const { reply, cause } = failure
    const outcomes = items.map(({ delivery }) =>
      putOffUntil(dueAt(), reply, cause, this.#passage.standing(delivery, now)),
    )
    await this.#passage.writeDown(items, outcomes, null)
    return NOTHING_LEFT
  }

  /**
   * Waits for a quota window: a short wait is not recorded, a longer one is recorded as a delay.
   * @param wasTried true when an account has refused the message in this attempt, so that its outcome is known
   */
  async #wait(
    items: readonly Item[],
    { until, cause, reason }: Extract<Decision, { kind: 'wait' }>,
    wasTried: boolean,
  ): Promise<UnsentDeliveries> {
    if (!wasTried && until - this.#deps.clock.now() <= SHORT_WAIT_MS) return restOf(items, until)
    const nextAt = Math.min(until, endOf(this.#deps, this.#email))
    return this.#settleAll(items, { kind: 'deferred', reply: ownReply(reason), cause, nextAt })
  }

  async #defer(
    items: readonly Item[],
    failure: Pick<Unavailable, 'reply' | 'cause' | 'retryAfterMs'>,
  ): Promise<UnsentDeliveries> {
    const now = this.#deps.clock.now()
    const notBefore = now + (failure.retryAfterMs ?? 0)
    const outcomes = items.map(({ delivery }) =>
      putOff(failure.reply, failure.cause, this.#passage.standing(delivery, now), notBefore),
    )
    await this.#passage.writeDown(items, outcomes, null)
    return NOTHING_LEFT
  }

  async #settleAll(items: readonly Item[], outcome: Outcome): Promise<UnsentDeliveries> {
    await this.#passage.writeDown(items, Array<Outcome>(items.length).fill(outcome), null)
    return NOTHING_LEFT
  }
}

function restOf(items: readonly Item[], until: number | null): UnsentDeliveries {
  return { ...NOTHING_LEFT, waiting: items.map(({ waiting }) => waiting), until }
}

/** Waits until all have settled, even when one fails. @throws the first failure */
async function allOf<T>(works: readonly (Promise<T> | T)[]): Promise<T[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
