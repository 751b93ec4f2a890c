// The runner: leases due deliveries from the queue and processes them until their outcome is recorded.

import type { Timer } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import { randomName } from '../../base/ids.ts'
import type { Service } from '../../base/lifecycle.ts'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import type { Email } from '../model/records.ts'
import { AttemptWrites } from './attempt-writes.ts'
import { BatchReads } from './batch-reads.ts'
import { DeliveryLimits } from './concurrency.ts'
import type { WorkerDeps } from './delivery-attempt.ts'
import type { RunnerDeps } from './deps.ts'
import { DueDeliveries } from './due-deliveries.ts'
import { InFlight } from './in-flight.ts'
import { MessageDelivery, type UnsentDeliveries } from './message-delivery.ts'
import { ownReply } from './outcomes.ts'
import { QueuePoller } from './queue-poller.ts'

/** Duration of a lease; renewed long before it ends. ms. */
const LEASE_MS = 600_000
const RENEW_EVERY_MS = 120_000
/** How long (ms) after a delivery is due it may be committed: a poll that does not read all of the queue begins so long before now. */
const LATE_MS = MINUTE_MS
/** The queue is read from its beginning again after so many times as long as that took. */
const FULL_POLL_SHARE = 50
/** Retry delay of deliveries whose origin or lane could not be skipped, in ms. */
const REQUEUE_MS = 5000
/** Retry delay after an internal error: at least this, else the age of the message. ms. */
const ERROR_RETRY_MS = MINUTE_MS
const ERROR_RETRY_MAX_MS = 6 * 3_600_000
const INTERNAL_ERROR = 'Internal error of the appliance; its log has the cause.'
/** How long a shutdown waits for hand-overs in progress, and then for their end after the abort. ms. */
const SHUTDOWN_MS = 5000
const ABORT_MS = 1000
const NONE: ReadonlySet<number> = new Set()

export class Runner implements Service {
  readonly name = 'deliver'
  readonly #deps: RunnerDeps
  readonly #workerDeps: WorkerDeps
  readonly #poller: QueuePoller
  readonly #inFlight = new InFlight()
  readonly #due: DueDeliveries
  /** When (ms) the queue was read from its beginning, and how long the queries took. */
  #lastFull = { at: 0, queryMs: 0 }
  readonly #limits = new DeliveryLimits()
  readonly #token = randomName()
  readonly #writes: AttemptWrites
  readonly #shutdown = new AbortController()
  /** By key of the message. */
  readonly #running = new Map<number, Promise<void>>()
  #renewing: Timer | undefined
  #isStopping = false

  constructor(deps: RunnerDeps) {
    this.#deps = deps
    const { signal } = this.#shutdown
    const isStopping = () => this.#isStopping
    this.#writes = new AttemptWrites(deps, { token: this.#token, running: () => this.#running.size })
    this.#workerDeps = { deps, limits: this.#limits, writes: this.#writes, isStopping, signal }
    const hasWaiting = (name: string) => this.#limits.hasWaiting({ kind: 'domain', name, team: '' })
    const scheduledLater = (emails: readonly number[]) => this.#scheduledLater(emails)
    this.#due = new DueDeliveries({ queue: deps.queue, inFlight: this.#inFlight, hasWaiting, scheduledLater })
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
    do {
      await this.#poller.pollNow()
      await this.#whenDelivered()
      // Finished messages may have freed capacity or caused a DSN.
      await this.#poller.pollNow()
    } while (this.#running.size > 0 || this.#due.isAnyDue(this.#deps.clock.now()))
  }

  async #whenDelivered(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /**
   * Claims as many due deliveries as the limits allow, and starts them.
   * @param isFullPoll reads the queue from its beginning, unless that was done a moment ago
   * @returns the duration of the queries, in ms
   */
  async #claimDue(isFullPoll: boolean): Promise<number> {
    const { clock } = this.#deps
    const began = clock.now()
    // What becomes due by time is found by full polls, for which there is an alarm.
    if (!isFullPoll && !this.#due.mayHaveMore(began)) return 0
    const isWhole = isFullPoll && this.#mayReadAll(began)
    if (isFullPoll) this.#due.restart(isWhole ? undefined : began - LATE_MS)
    let queryMs = 0
    for (let isLast = false; !isLast && !this.#isStopping; ) {
      const now = clock.now()
      const page = this.#due.next(now)
      queryMs += clock.now() - now
      await this.#claim(page.emails, now)
      isLast = page.isLast
    }
    if (isWhole) this.#lastFull = { at: began, queryMs }
    return queryMs
  }

  /** While the clock is in doubt, a message with a time of its own leaves by the expected time alone. */
  #scheduledLater(ns: readonly number[]): ReadonlySet<number> {
    const { guard, emails } = this.#deps
    return guard.isHeld() ? emails.scheduledAfter(ns, guard.expected()) : NONE
  }

  #mayReadAll(now: number): boolean {
    const { at, queryMs } = this.#lastFull
    // Also when the clock was set back.
    return now < at || now >= at + queryMs * FULL_POLL_SHARE
  }

  async #claim(ns: readonly number[], now: number): Promise<void> {
    const { queue, emails } = this.#deps
    if (ns.length === 0) return
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
    } catch (error) {
      // They are in the queue as before.
      this.#due.restart()
      throw error
    } finally {
      // The message may have been dropped in the meantime.
      for (const n of ns) if (!this.#running.has(n)) this.#inFlight.remove(n)
    }
  }

  #startDelivery(email: Email, deliver: () => Promise<UnsentDeliveries>): void {
    const work = this.#deliver(email, deliver).finally(() => {
      this.#running.delete(email.n)
      this.#inFlight.remove(email.n)
      this.#writes.checkWaiting()
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
      await this.#deferAfterError(email, error).catch((cause: unknown) =>
        log.error({ event: 'queue.reschedule_failed', err: cause, email: email.id }, 'Failed delivery not rescheduled'),
      )
    }
  }

  /** Returns deliveries to the queue and skips their origin or lane for a while: otherwise the next poll takes them again. */
  async #requeue({ queued: deliveries, until, rescheduled }: UnsentDeliveries): Promise<void> {
    if (deliveries.length + rescheduled.length === 0) return
    const again = until ?? this.#deps.clock.now() + REQUEUE_MS
    const keys = deliveries.map((one) => (until === null ? this.#due.skipLane(one) : this.#due.skipOrigin(one, until)))
    const back = deliveries.map((one, index) => (keys[index] === null ? { ...one, dueAt: again } : one))
    await this.#deps.db.write((tx) => this.#deps.queue.requeue(tx, this.#token, [...back, ...rescheduled]))
    for (const [index, one] of deliveries.entries()) if (keys[index] != null) this.#due.noteReturned(one, keys[index])
  }

  /** Defers a message after an internal error, which may be permanent. Deliveries marked as handed over stay marked. */
  async #deferAfterError(email: Email, error: unknown): Promise<void> {
    const { db, queue, transitions, clock } = this.#deps
    const now = clock.now()
    const nextAt = now + Math.min(Math.max(now - email.queuedAt, ERROR_RETRY_MS), ERROR_RETRY_MAX_MS)
    const reply = ownReply(error instanceof DamagedContent ? error.message : INTERNAL_ERROR)
    await db.write((tx) => {
      for (const row of queue.ofEmail(tx, email.n)) {
        if (!row.isLeased) continue
        if (row.uncertain) queue.requeue(tx, this.#token, [{ ...row, dueAt: nextAt }])
        else transitions.apply(tx, row.delivery, { kind: 'deferred', reply, cause: 'transient', nextAt }, null)
      }
    })
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
