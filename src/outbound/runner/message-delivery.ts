// The delivery of one message: admission, routing, signing, hand-over, and recording each recipient's outcome.

import { randomInt } from 'node:crypto'
import { MINUTE_MS } from '../../base/durations.ts'
import type { DeliveryState } from '../log/emails.ts'
import type { Carrier, Email, Outcome, Provider, RemoteReply } from '../model/records.ts'
import type { NotTried, Unavailable } from '../model/transport.ts'
import type { RoutingRule } from '../providers/routing-rules.ts'
import type { QueuedDelivery } from '../queue/queue.ts'
import type { Decision, KnownDomainStatus } from '../routing/decision.ts'
import { admit, type BatchReads } from './batch-reads.ts'
import type { LimitKey } from './concurrency.ts'
import { type AccountRoute, type AttemptItem, DeliveryAttempt, type WorkerDeps } from './delivery-attempt.ts'
import type { RunnerDeps } from './deps.ts'
import { deferOrExpire, deferUntil, expiryOf, ownReply, untriedReply } from './outcomes.ts'

/** A wait for a quota window up to this long is not logged as a delay, in ms. */
const SHORT_WAIT_MS = MINUTE_MS
/** How long messages of a suspended sender are skipped, in ms. */
const HOLD_MS = 30_000
const LOCAL: Carrier = { id: null, name: 'Local delivery' }
const DIRECT: Carrier = { id: null, name: 'Direct delivery' }

/** The deliveries of a message that were not handed over and return to the queue. */
export interface UnsentDeliveries {
  queued: readonly QueuedDelivery[]
  /** Until when (ms) all messages of the origin wait, too; null when only its domains have full waiting lists. */
  until: number | null
  /** Deliveries with their own due times. */
  rescheduled: readonly QueuedDelivery[]
}

const NONE_UNSENT: UnsentDeliveries = { queued: [], until: null, rescheduled: [] }
/** Deliveries of a routing rule for which there is no room now are tried again after this time, in ms. */
const REQUEUE_MS = 15_000
/** Spreads the retries of messages deferred for the same reason over this share of the wait. */
const SPREAD = 0.1

/** Transactions of one message at the same time: at one account, and at the servers of one domain. */
const PARALLEL = 4

/** What is left after a sending account. */
interface AccountRest {
  items: AttemptItem[]
  failure: Unavailable | null
  refusal: RemoteReply | null
}

/** The replies of the sending accounts in one attempt. */
interface Tried {
  /** Ids of accounts that failed, and of accounts that refuse a message of that size, or a forwarded one. */
  failed: Set<string>
  tooSmall: Set<string>
  failure: Unavailable | null
  refusal: RemoteReply | null
}

export class MessageDelivery {
  readonly #worker: WorkerDeps
  readonly #deps: RunnerDeps
  readonly #email: Email
  readonly #attempt: DeliveryAttempt

  constructor(worker: WorkerDeps, email: Email) {
    this.#worker = worker
    this.#deps = worker.deps
    this.#email = email
    this.#attempt = new DeliveryAttempt(worker, email)
  }

  /**
   * Attempts the due deliveries of the message. The caller returns the result to the queue; the other deliveries are settled,
   * or, during a shutdown, still leased.
   * @param deliveries the deliveries of the message, as just read
   */
  async run(
    queued: readonly QueuedDelivery[],
    deliveries: readonly DeliveryState[],
    reads: BatchReads,
  ): Promise<UnsentDeliveries> {
    const items = itemsOf(queued, deliveries)
    if (items.length < queued.length) await this.#dropEnded(queued, items)
    const releasedAt = await this.#deps.holds.releasedAt(this.#email)
    if (releasedAt === 'held_again') return NONE_UNSENT
    this.#attempt.dateBy(releasedAt)
    const admission = admit(this.#deps, reads, this.#email)
    if (admission.kind === 'hold') return unsentOf(items, this.#deps.clock.now() + HOLD_MS)
    if (admission.kind === 'cancelled') return this.#settleAll(items, { kind: 'cancelled' })
    if (admission.kind === 'expired') {
      const text = items[0]?.delivery.lastReply ?? 'No attempt was possible for two days.'
      return this.#settleAll(items, { kind: 'expired', reply: ownReply(text) })
    }
    const [local, remote] = this.#split(items, admission.isProven, reads)
    // A failure of one path must not leave the other one unawaited.
    const [, rest] = await allOf([
      this.#deliverLocally(local),
      remote.length > 0 ? this.#sendOut(remote, admission.domain) : NONE_UNSENT,
    ])
    return rest!
  }

  /** Deliveries in a final state leave the queue. */
  async #dropEnded(queued: readonly QueuedDelivery[], items: readonly AttemptItem[]): Promise<void> {
    const { queue, db } = this.#deps
    const open = new Set(items.map(({ delivery }) => delivery.n))
    const ended = queued.flatMap(({ delivery }) => (open.has(delivery) ? [] : [delivery]))
    await db.write((tx) => queue.drop(tx, ended))
  }

  /** Only messages from a verified domain are delivered locally; others are sent out and come back over SMTP. */
  #split(
    items: readonly AttemptItem[],
    isProven: boolean,
    reads: BatchReads,
  ): [near: AttemptItem[], far: AttemptItem[]] {
    if (!isProven) return [[], [...items]]
    const { near: local = [], far: remote = [] } = Object.groupBy(items, ({ queued }) =>
      reads.isLocal(queued.lane) ? 'near' : 'far',
    )
    return [local, remote]
  }

  async #deliverLocally(items: readonly AttemptItem[]): Promise<UnsentDeliveries> {
    if (items.length === 0) return NONE_UNSENT
    const limitKey: LimitKey = { kind: 'local', name: '', team: this.#email.teamId }
    const transport = this.#deps.transports.local()
    await this.#attempt.deliverLocally(items, { transport, carrier: LOCAL, limitKey, reason: 'The mailbox is here.' })
    return NONE_UNSENT
  }

  /** Sends to the domains of each routing rule by themselves, and to all others together. */
  async #sendOut(items: readonly AttemptItem[], found: KnownDomainStatus): Promise<UnsentDeliveries> {
    const domains = items.map(({ queued }) => queued.lane)
    const rules = await this.#deps.router.rulesFor(this.#email, domains, found)
    if (rules.size === 0) return this.#sendBy(items, null, found)
    const shares = Map.groupBy(items, ({ queued }) => rules.get(queued.lane) ?? null)
    const rests = await allOf(
      [...shares].map(async ([rule, own]) => {
        const rest = await this.#sendBy(own, rule, found)
        return rule === null ? rest : this.#withOwnTimes(rest)
      }),
    )
    return joined(rests)
  }

  /** A rule that has to wait holds up no other message of the sender. */
  #withOwnTimes({ queued, until, rescheduled }: UnsentDeliveries): UnsentDeliveries {
    const dueAt = until ?? this.#deps.clock.now() + REQUEUE_MS
    return { ...NONE_UNSENT, rescheduled: [...rescheduled, ...queued.map((one) => ({ ...one, dueAt }))] }
  }

  /** Tries one account after another until one accepts or refuses the message. @param rule of the recipients' domains */
  async #sendBy(
    items: readonly AttemptItem[],
    rule: RoutingRule | null,
    found: KnownDomainStatus,
  ): Promise<UnsentDeliveries> {
    const { router, providers } = this.#deps
    const tried: Tried = { failed: new Set(), tooSmall: new Set(), failure: null, refusal: null }
    let left = items
    for (let domain = found; ; domain = null) {
      // After an attempt the domain status may be stale, so the router reads it again.
      const decision = await router.decide(this.#email, left.length, tried.failed, domain, tried.tooSmall, rule)
      if (decision.kind !== 'provider') return this.#endWithoutAccount(left, decision, tried)
      const { provider } = decision
      const { items: rest, failure, refusal } = await this.#sendByAccount(left, provider, decision.reason)
      if (rest.length === 0) return NONE_UNSENT
      left = rest
      if (refusal !== null) {
        tried.tooSmall.add(provider.id)
        tried.refusal = refusal
      }
      if (failure !== null) {
        await providers.noteFailure(provider, failure.stage, failure.reply)
        tried.failed.add(provider.id)
        tried.failure = failure
      }
    }
  }

  /** Sends by one account until it fails. @returns the deliveries that another account may carry, and why this one does not */
  async #sendByAccount(items: readonly AttemptItem[], provider: Provider, reason: string): Promise<AccountRest> {
    const route = await this.#routeBy(provider, reason)
    const rest: AccountRest = { items: [], failure: null, refusal: null }
    await inParallel(this.#attempt.groupsOf(items, provider), async (group) => {
      const handed = rest.failure === null ? await this.#attempt.sendByAccount(group, route) : rest.failure
      if (handed === null) return
      rest.items.push(...(handed.kind === 'unfit' ? handed.items : group))
      if (handed.kind === 'unfit') rest.refusal = handed.reply
      else rest.failure = handed
    })
    return rest
  }

  /** No account is left to try. */
  #endWithoutAccount(
    items: readonly AttemptItem[],
    decision: Exclude<Decision, { kind: 'provider' }>,
    tried: Tried,
  ): Promise<UnsentDeliveries> {
    if (tried.failure !== null) return this.#defer(items, tried.failure)
    if (decision.kind === 'direct') return this.#sendDirect(items, decision.reason)
    if (decision.kind === 'wait') return this.#wait(items, decision, tried.refusal !== null)
    const detail = tried.refusal === null ? decision.detail : `${decision.detail} ${tried.refusal.text}`
    return this.#settleAll(items, { kind: 'rejected', reason: decision.reason, detail })
  }

  async #routeBy(provider: Provider, reason: string): Promise<AccountRoute> {
    const limitKey: LimitKey = { kind: 'provider', name: provider.id, team: this.#email.teamId }
    return { transport: await this.#deps.transports.of(provider), carrier: provider, limitKey, reason, provider }
  }

  /** Delivers to each recipient domain concurrently and independently. */
  async #sendDirect(items: readonly AttemptItem[], reason: string): Promise<UnsentDeliveries> {
    const transport = this.#deps.transports.direct()
    const rests = [...Map.groupBy(items, ({ queued }) => queued.lane)].map(([name, own]) => {
      const limitKey: LimitKey = { kind: 'domain', name, team: this.#email.teamId }
      return inParallel(this.#attempt.groupsOf(own, null), async (group) => {
        if (this.#worker.limits.isFull(limitKey)) return unsentOf(group, null)
        const untried = await this.#attempt.sendDirect(group, { transport, carrier: DIRECT, limitKey, reason })
        return untried === null ? NONE_UNSENT : this.#deferUntried(group, untried)
      })
    })
    const all = (await allOf(rests)).flat()
    const rescheduled = all.flatMap((rest) => rest.rescheduled)
    return { queued: all.flatMap(({ queued }) => queued), until: null, rescheduled }
  }

  /** A destination in backoff is recorded as a delay and does not count as an attempt. */
  async #deferUntried(items: readonly AttemptItem[], { until, failure }: NotTried): Promise<UnsentDeliveries> {
    const now = this.#deps.clock.now()
    const dueAt = () => until + Math.round((until - now) * SPREAD * (randomInt(1000) / 1000))
    if (failure === null) {
      return { ...NONE_UNSENT, rescheduled: items.map(({ queued }) => ({ ...queued, dueAt: dueAt() })) }
    }
    const { reply, cause } = failure
    const outcomes = items.map(({ delivery }) =>
      deferUntil(dueAt(), untriedReply(reply), cause, this.#attempt.clockOf(delivery, now)),
    )
    await this.#attempt.recordOutcomes(items, outcomes, null)
    return NONE_UNSENT
  }

  /**
   * Waits for a quota window: a short wait is not recorded, a longer one is recorded as a delay.
   * @param wasTried true when an account has refused the message in this attempt, so that its outcome is known
   */
  async #wait(
    items: readonly AttemptItem[],
    { until, cause, reason }: Extract<Decision, { kind: 'wait' }>,
    wasTried: boolean,
  ): Promise<UnsentDeliveries> {
    if (!wasTried && until - this.#deps.clock.now() <= SHORT_WAIT_MS) return unsentOf(items, until)
    const nextAt = Math.min(until, expiryOf(this.#deps, this.#email))
    return this.#settleAll(items, { kind: 'deferred', reply: ownReply(reason), cause, nextAt })
  }

  async #defer(
    items: readonly AttemptItem[],
    failure: Pick<Unavailable, 'reply' | 'cause' | 'retryAfterMs'>,
  ): Promise<UnsentDeliveries> {
    const now = this.#deps.clock.now()
    const notBefore = now + (failure.retryAfterMs ?? 0)
    const outcomes = items.map(({ delivery }) =>
      deferOrExpire(failure.reply, failure.cause, this.#attempt.clockOf(delivery, now), notBefore),
    )
    await this.#attempt.recordOutcomes(items, outcomes, null)
    return NONE_UNSENT
  }

  async #settleAll(items: readonly AttemptItem[], outcome: Outcome): Promise<UnsentDeliveries> {
    await this.#attempt.recordOutcomes(items, Array<Outcome>(items.length).fill(outcome), null)
    return NONE_UNSENT
  }
}

/** The queued deliveries that are pending. */
function itemsOf(queued: readonly QueuedDelivery[], deliveries: readonly DeliveryState[]): AttemptItem[] {
  const open = new Map(
    deliveries.filter(({ status }) => status === 'pending').map((delivery) => [delivery.n, delivery]),
  )
  return queued.flatMap((one) => {
    const delivery = open.get(one.delivery)
    return delivery === undefined ? [] : [{ queued: one, delivery }]
  })
}

/** @param rests at most one of them with a time for the whole origin */
function joined(rests: readonly UnsentDeliveries[]): UnsentDeliveries {
  return {
    queued: rests.flatMap(({ queued }) => queued),
    until: rests.find(({ until }) => until !== null)?.until ?? null,
    rescheduled: rests.flatMap(({ rescheduled }) => rescheduled),
  }
}

function unsentOf(items: readonly AttemptItem[], until: number | null): UnsentDeliveries {
  return { ...NONE_UNSENT, queued: items.map(({ queued }) => queued), until }
}

/** Runs a task for each element, PARALLEL at a time. @returns the results in order @throws the first failure, when all have settled */
async function inParallel<E, T>(elements: readonly E[], task: (element: E) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  const entries = elements.entries()
  const run = async () => {
    for (const [index, element] of entries) results[index] = await task(element)
  }
  await allOf(Array.from({ length: Math.min(PARALLEL, elements.length) }, run))
  return results
}

/** Waits until all have settled, even when one fails. @throws the first failure */
async function allOf<T>(works: readonly (Promise<T> | T)[]): Promise<T[]> {
  await Promise.allSettled(works)
  return Promise.all(works)
}
