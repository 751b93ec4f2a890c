// The runner: leases due deliveries from the queue and processes them until their outcome is recorded.

import type { Timer } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import { randomName } from '../../base/ids.ts'
import type { Service } from '../../base/lifecycle.ts'
import { laneOf, type QueuedDelivery } from '../queue.ts'
import type { Email } from '../records.ts'
import { AttemptWrites } from './attempt-writes.ts'
import { BatchReads } from './batch-reads.ts'
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
const FIRST_PAGE = 100
/** Messages claimed in one transaction. */
const CLAIM_MAX = 200
/** Retry delay of deliveries whose origin or lane could not be skipped, in ms. */
const REQUEUE_MS = 5000
/** Retry delay after an internal error: at least this, else the age of the message. ms. */
const ERROR_RETRY_MS = MINUTE_MS
const ERROR_RETRY_MAX_MS = 6 * 3_600_000
/** How long a shutdown waits for hand-overs in progress, and then for their end after the abort. ms. */
const SHUTDOWN_MS = 5000
const ABORT_MS = 1000

export class Runner implements Service {
  readonly name = 'deliver'
  readonly #deps: RunnerDeps
  readonly #workerDeps: WorkerDeps
  readonly #poller: QueuePoller
  readonly #inFlight = new InFlight()
  readonly #limits = new DeliveryLimits()
  readonly #token = randomName()
  readonly #shutdown = new AbortController()
  /** By key of the message. */
  readonly #running = new Map<number, Promise<void>>()
  #renewing: Timer | undefined
  #isStopping = false

  constructor(deps: RunnerDeps) {
    this.#deps = deps
    const { signal } = this.#shutdown
    const isStopping = () => this.#isStopping
    this.#workerDeps = { deps, limits: this.#limits, writes: new AttemptWrites(deps, this.#token), isStopping, signal }
    this.#poller = new QueuePoller(deps, {
      claimDue: (isFullPoll) => this.#claimDue(isFullPoll),
      nextDueAt: () => this.#nextAt(),
    })
  }

  /** Requeues deliveries leased by earlier runners, and starts polling. There is one runner per data folder. */
  async start(): Promise<void> {
    const { queue, clock, log } = this.#deps
    const back = await queue.reclaim(clock.now())
    if (back.deliveries > 0)
      log.info({ event: 'queue.leases_reclaimed', ...back }, 'Deliveries of an earlier run requeued')
    this.#renewing = clock.every(RENEW_EVERY_MS, () => void this.#renew())
    this.#poller.start()
  }

  /** Takes no new deliveries, waits for hand-overs in progress, and releases the other leases. */
  async stop(): Promise<void> {
    const { queue, clock } = this.#deps
    this.#isStopping = true
    this.#renewing?.cancel()
    await this.#poller.stop()
    if (!(await endsWithin(SHUTDOWN_MS, this.#whenDelivered()))) {
      this.#shutdown.abort()
      await endsWithin(ABORT_MS, this.#whenDelivered())
    }
    await queue.release(this.#token, clock.now())
  }

  /** Resolves when no message is in flight and no due delivery can be taken. */
  async settle(): Promise<void> {
    const { queue, clock } = this.#deps
    do {
      await this.#poller.pollNow()
      await this.#whenDelivered()
      // Finished messages may have freed capacity or caused a DSN.
      await this.#poller.pollNow()
    } while (this.#running.size > 0 || queue.due(clock.now(), 1, this.#exclusions(), null).length > 0)
  }

  async #whenDelivered(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Claims as many due deliveries as the limits allow, and starts them. */
  async #claimDue(isFullPoll: boolean): Promise<PollResult> {
    const { queue, clock } = this.#deps
    const limit = isFullPoll ? PAGE : FIRST_PAGE
    const result = { behind: 0, queryMs: 0 }
    for (let after: QueuedDelivery | null = null; !this.#isStopping; ) {
      const now = clock.now()
      const page: QueuedDelivery[] = queue.due(now, limit, this.#exclusions(), after)
      result.queryMs += clock.now() - now
      const ns = [...new Set(page.filter((delivery) => this.#inFlight.add(delivery)).map(({ email }) => email))]
      for (let at = 0; at < ns.length; at += CLAIM_MAX) await this.#claim(ns.slice(at, at + CLAIM_MAX), now)
      if (after !== null) result.behind += ns.length
      if (!isFullPoll || page.length < limit || this.#inFlight.isFull) break
      after = page.at(-1)!
    }
    return result
  }

  async #claim(ns: readonly number[], now: number): Promise<void> {
    const { queue, emails } = this.#deps
    try {
      const claimed = await queue.claim({ token: this.#token, until: now + LEASE_MS }, ns, now)
      const queued = Map.groupBy(claimed, ({ email }) => email)
      const states = Map.groupBy(emails.deliveriesOfAll(ns), ({ email }) => email)
      const lanes = new Set(claimed.map(({ lane }) => lane))
      const reads = new BatchReads(this.#deps, [...lanes])
      for (const email of emails.byN(ns)) {
        const deliver = () =>
          new MessageDelivery(this.#workerDeps, email).run(queued.get(email.n)!, states.get(email.n) ?? [], reads)
        if (queued.has(email.n)) this.#startDelivery(email, deliver)
      }
    } finally {
      // The message may have been dropped in the meantime.
      for (const n of ns) if (!this.#running.has(n)) this.#inFlight.remove(n)
    }
  }

  #startDelivery(email: Email, deliver: () => Promise<UnsentDeliveries>): void {
    const work = this.#deliver(email, deliver).finally(() => {
      this.#running.delete(email.n)
      this.#inFlight.remove(email.n)
      if (this.#running.size === 0) this.#poller.request('all')
      else this.#poller.requestSoon()
    })
    this.#running.set(email.n, work)
  }

  async #deliver(email: Email, deliver: () => Promise<UnsentDeliveries>): Promise<void> {
    const { log } = this.#deps
    try {
      await this.#requeue(await deliver())
    } catch (error) {
      log.error(
        { event: 'queue.delivery_failed', err: error, email: email.id },
        'Delivery failed with an internal error; will retry',
      )
      await this.#deferAfterError(email).catch((cause: unknown) =>
        log.error({ event: 'queue.reschedule_failed', err: cause, email: email.id }, 'Failed delivery not rescheduled'),
      )
    }
  }

  /** Returns deliveries to the queue and skips their origin or lane for a while: otherwise the next poll takes them again. */
  async #requeue({ queued: deliveries, until, rescheduled }: UnsentDeliveries): Promise<void> {
    if (deliveries.length + rescheduled.length === 0) return
    const again = until ?? this.#deps.clock.now() + REQUEUE_MS
    const back = deliveries.map((one) => {
      const isLeft =
        until === null ? this.#inFlight.skipLane(laneOf(one), one.lane) : this.#inFlight.skipOrigin(one.origin, until)
      return isLeft ? one : { ...one, dueAt: again }
    })
    await this.#deps.db.write((tx) => this.#deps.queue.requeue(tx, this.#token, [...back, ...rescheduled]))
  }

  /** Defers a message after an internal error, which may be permanent. Deliveries marked as handed over stay marked. */
  async #deferAfterError(email: Email): Promise<void> {
    const { db, queue, transitions, clock } = this.#deps
    const now = clock.now()
    const nextAt = now + Math.min(Math.max(now - email.queuedAt, ERROR_RETRY_MS), ERROR_RETRY_MAX_MS)
    const reply = ownReply('Internal error of the appliance; its log has the cause.')
    await db.write((tx) => {
      for (const row of queue.ofEmail(tx, email.n)) {
        if (!row.isLeased) continue
        if (row.uncertain) queue.requeue(tx, this.#token, [{ ...row, dueAt: nextAt }])
        else transitions.apply(tx, row.delivery, { kind: 'deferred', reply, cause: 'transient', nextAt }, null)
      }
    })
  }

  #exclusions() {
    const hasWaiting = (name: string) => this.#limits.hasWaiting({ kind: 'domain', name, team: '' })
    return this.#inFlight.exclusions(this.#deps.clock.now(), hasWaiting)
  }

  #nextAt(): number | null {
    const due = this.#deps.queue.nextDueAt(this.#deps.clock.now())
    const times = [due, this.#inFlight.nextOriginAt].filter((at) => at !== null)
    return times.length === 0 ? null : Math.min(...times)
  }

  async #renew(): Promise<void> {
    const { queue, clock, log } = this.#deps
    if (this.#running.size === 0) return
    await queue
      .renew({ token: this.#token, until: clock.now() + LEASE_MS }, [...this.#running.keys()])
      .catch((error: unknown) => log.warn({ event: 'queue.renew_failed', err: error }, 'Leases not renewed'))
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
