// The runner: leases due deliveries from the queue and processes them until their outcome is recorded.

import type { Timer } from '../../base/clock.ts'
import { randomName } from '../../base/ids.ts'
import type { Service } from '../../base/lifecycle.ts'
import { laneOf, type QueuedDelivery } from '../queue.ts'
import type { Email } from '../records.ts'
import { DeliveryLimits } from './concurrency.ts'
import type { WorkerDeps } from './delivery-attempt.ts'
import type { RunnerDeps } from './deps.ts'
import { InFlight } from './in-flight.ts'
import { MessageDelivery, type UnsentDeliveries } from './message-delivery.ts'
import { ownReply } from './outcomes.ts'
import { type PollResult, QueuePoller } from './queue-poller.ts'

/** Duration of a lease; renewed long before it ends. ms. */
const LEASE_MS = 600_000
const RENEW_EVERY_MS = 120_000
/** Queue rows per query: in a full poll, and in a poll of the first page. */
const PAGE = 500
const PAGE_ON_TOP = 100
/** Messages claimed in one transaction. */
const CLAIM_MAX = 200
/** Retry delay of deliveries whose origin or lane could not be skipped, in ms. */
const AGAIN_MS = 5000
/** Retry delay after an internal error: at least this, else the age of the message. ms. */
const STUMBLE_MS = 60_000
const STUMBLE_MAX_MS = 6 * 3_600_000
/** How long a shutdown waits for hand-overs in progress, and then for their end after the abort. ms. */
const PATIENCE_MS = 5000
const LAST_PATIENCE_MS = 1000

export class Runner implements Service {
  readonly name = 'deliver'
  readonly #deps: RunnerDeps
  readonly #guide: WorkerDeps
  readonly #look: QueuePoller
  readonly #hand = new InFlight()
  readonly #places = new DeliveryLimits()
  readonly #token = randomName()
  readonly #patience = new AbortController()
  /** By key of the message. */
  readonly #underWay = new Map<number, Promise<void>>()
  #renewing: Timer | undefined
  #isOver = false

  constructor(deps: RunnerDeps) {
    this.#deps = deps
    const { signal } = this.#patience
    this.#guide = { deps, places: this.#places, token: this.#token, isOver: () => this.#isOver, signal }
    this.#look = new QueuePoller(deps, {
      take: (isFar) => this.#take(isFar),
      next: () => this.#nextAt(),
    })
  }

  /** Requeues deliveries leased by earlier runners, and starts polling. There is one runner per data folder. */
  async start(): Promise<void> {
    const { queue, clock, log } = this.#deps
    const back = await queue.reclaim(clock.now())
    if (back.deliveries > 0) log.info(back, 'deliveries of an earlier run are taken up again')
    this.#renewing = clock.every(RENEW_EVERY_MS, () => void this.#renew())
    this.#look.start()
  }

  /** Takes no new deliveries, waits for hand-overs in progress, and releases the other leases. */
  async stop(): Promise<void> {
    const { queue, clock } = this.#deps
    this.#isOver = true
    this.#renewing?.cancel()
    await this.#look.stop()
    if (!(await endsWithin(PATIENCE_MS, this.#rest()))) {
      this.#patience.abort()
      await endsWithin(LAST_PATIENCE_MS, this.#rest())
    }
    await queue.release(this.#token, clock.now())
  }

  /** Resolves when no message is in flight and no due delivery can be taken. */
  async settle(): Promise<void> {
    const { queue, clock } = this.#deps
    do {
      await this.#look.now()
      await this.#rest()
      // Finished messages may have freed capacity or caused a DSN.
      await this.#look.now()
    } while (this.#underWay.size > 0 || (await queue.due(clock.now(), 1, this.#passedOver(), null)).length > 0)
  }

  async #rest(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values())
  }

  /** Claims as many due deliveries as the limits allow, and starts them. */
  async #take(isFar: boolean): Promise<PollResult> {
    const { queue, clock } = this.#deps
    const limit = isFar ? PAGE : PAGE_ON_TOP
    const found = { behind: 0, askedMs: 0 }
    for (let after: QueuedDelivery | null = null; !this.#isOver; ) {
      const now = clock.now()
      const page: QueuedDelivery[] = await queue.due(now, limit, this.#passedOver(), after)
      found.askedMs += clock.now() - now
      const ns = [...new Set(page.filter((waiting) => this.#hand.take(waiting)).map(({ email }) => email))]
      for (let at = 0; at < ns.length; at += CLAIM_MAX) await this.#claim(ns.slice(at, at + CLAIM_MAX), now)
      if (after !== null) found.behind += ns.length
      if (!isFar || page.length < limit || this.#hand.isFull) break
      after = page.at(-1)!
    }
    return found
  }

  async #claim(ns: readonly number[], now: number): Promise<void> {
    const { queue, emails } = this.#deps
    try {
      const claimed = await queue.claim({ token: this.#token, until: now + LEASE_MS }, ns, now)
      const known = new Map((await emails.byN(ns)).map((email) => [email.n, email]))
      for (const [n, waiting] of Map.groupBy(claimed, ({ email }) => email)) {
        const email = known.get(n)
        if (email !== undefined) this.#sendOff(email, waiting)
      }
    } finally {
      // The message may have been dropped in the meantime.
      for (const n of ns) if (!this.#underWay.has(n)) this.#hand.letGo(n)
    }
  }

  #sendOff(email: Email, waiting: readonly QueuedDelivery[]): void {
    const work = this.#see(email, waiting).finally(() => {
      this.#underWay.delete(email.n)
      this.#hand.letGo(email.n)
      if (this.#underWay.size === 0) this.#look.at('all')
      else this.#look.soon()
    })
    this.#underWay.set(email.n, work)
  }

  async #see(email: Email, waiting: readonly QueuedDelivery[]): Promise<void> {
    const { log } = this.#deps
    try {
      await this.#giveBack(await new MessageDelivery(this.#guide, email).run(waiting))
    } catch (error) {
      log.error({ err: error, email: email.id }, 'a mail could not be seen to; it is tried again')
      await this.#stumble(email).catch((cause: unknown) => log.error({ err: cause, email: email.id }, 'nor put off'))
    }
  }

  /** Returns deliveries to the queue and skips their origin or lane for a while: otherwise the next poll takes them again. */
  async #giveBack({ waiting, until, aside }: UnsentDeliveries): Promise<void> {
    if (waiting.length + aside.length === 0) return
    const again = until ?? this.#deps.clock.now() + AGAIN_MS
    const back = waiting.map((one) => {
      const isLeft = until === null ? this.#hand.passBy(laneOf(one), one.lane) : this.#hand.rest(one.origin, until)
      return isLeft ? one : { ...one, dueAt: again }
    })
    await this.#deps.db.write((tx) => this.#deps.queue.requeue(tx, this.#token, [...back, ...aside]))
  }

  /** Defers a message after an internal error, which may be permanent. Deliveries marked as handed over stay marked. */
  async #stumble(email: Email): Promise<void> {
    const { db, queue, fate, clock } = this.#deps
    const now = clock.now()
    const nextAt = now + Math.min(Math.max(now - email.queuedAt, STUMBLE_MS), STUMBLE_MAX_MS)
    const reply = ownReply('Something went wrong in the appliance; its log says what.')
    await db.write(async (tx) => {
      for (const row of await queue.ofEmail(tx, email.n)) {
        if (!row.inHand) continue
        if (row.uncertain) await queue.requeue(tx, this.#token, [{ ...row, dueAt: nextAt }])
        else await fate.apply(tx, row.delivery, { kind: 'deferred', reply, cause: 'transient', nextAt }, null)
      }
    })
  }

  #passedOver() {
    const hasLine = (name: string) => this.#places.hasLine({ kind: 'domain', name, team: '' })
    return this.#hand.passedOver(this.#deps.clock.now(), hasLine)
  }

  async #nextAt(): Promise<number | null> {
    const due = await this.#deps.queue.nextDueAt(this.#deps.clock.now())
    const times = [due, this.#hand.soonest].filter((at) => at !== null)
    return times.length === 0 ? null : Math.min(...times)
  }

  async #renew(): Promise<void> {
    const { queue, clock, log } = this.#deps
    if (this.#underWay.size === 0) return
    await queue
      .renew({ token: this.#token, until: clock.now() + LEASE_MS }, [...this.#underWay.keys()])
      .catch((error: unknown) => log.warn({ err: error }, 'leases could not be renewed'))
  }
}

/** @returns false when the time (ms) ended first; uses the real clock, because sockets do */
async function endsWithin(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const ended = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return ended
}
