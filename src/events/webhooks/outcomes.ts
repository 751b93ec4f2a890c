// Records the outcomes of webhook requests; outcomes that arrive during a write are batched into the next unit of work.

import type { Clock } from '../../base/clock.ts'
import type { ClockDoubt } from '../../base/clock-guard.ts'
import { DAY_MS } from '../../base/durations.ts'
import type { PostResult } from '../../base/safe-fetch.ts'
import { WriteBatches } from '../../base/write-batches.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { Attempts, NewAttempt } from './attempts.ts'
import type { PendingDeliveries } from './pending.ts'
import type { AttemptResult, PendingDelivery, Webhook } from './records.ts'
import { ATTEMPTS_MAX, nextAttemptAt, retryAfterMs } from './schedule.ts'
import type { Webhooks } from './subscriptions.ts'

/** Outcomes written in one unit of work. */
const BATCH_MAX = 512
/**
 * Outcomes wait so long (ms) for those of running requests: a transaction writes the same pages again, whatever the number of its rows.
 * After a crash the requests of this time are repeated.
 */
const GATHER_MS = 200

/** The response to one request. */
export interface AttemptOutcome {
  answer: PostResult
  ms: number
  headers: Record<string, string>
}

/** A delivery whose request has finished. */
interface FinishedAttempt {
  webhook: number
  delivery: PendingDelivery
  outcome: AttemptOutcome
}

export interface OutcomeWriterDeps {
  db: Db
  clock: Clock
  guard: ClockDoubt
  webhooks: Webhooks
  attempts: Attempts
  pending: PendingDeliveries
  /** Days the payload of an attempt is kept. */
  payloadDays: number
  /** 0 to 1, for the jitter of retries. */
  random?: () => number
}

/** State of one unit of work. */
interface WriteBatch {
  /** Subscriptions as the unit of work read them; removed when it changes them. */
  webhooks: Map<number, Webhook | undefined>
  /** Subscriptions whose last noted attempt succeeded. */
  lastSucceeded: Set<number>
  attempts: NewAttempt[]
  done: number[]
}

export class OutcomeWriter {
  readonly #deps: OutcomeWriterDeps
  readonly #batches: WriteBatches<FinishedAttempt>
  /** Requests that run. */
  #running = 0
  /** Ends the wait for more outcomes. */
  #writeNow: (() => void) | undefined

  constructor(deps: OutcomeWriterDeps) {
    this.#deps = deps
    this.#batches = new WriteBatches({
      most: BATCH_MAX,
      gather: () => this.#gather(),
      write: (take) => {
        const all = take()
        return deps.db.write((tx) => this.#writeBatch(tx, all))
      },
    })
  }

  /** Records the outcome of a request and its consequences. Resolves when the record is durable. */
  write(webhook: number, delivery: PendingDelivery, outcome: AttemptOutcome): Promise<void> {
    const written = this.#batches.write({ webhook, delivery, outcome })
    if (this.#batches.waiting >= BATCH_MAX) this.#writeNow?.()
    return written
  }

  /** Waits for a request: outcomes may wait for its outcome as long as it runs. */
  async during(request: Promise<AttemptOutcome>): Promise<AttemptOutcome> {
    this.#running++
    try {
      return await request
    } finally {
      this.#running--
      // The next request may begin in this turn of the event loop.
      if (this.#running === 0) setImmediate(() => this.#running === 0 && this.#writeNow?.())
    }
  }

  /** @returns undefined when no request runs or enough outcomes wait; a promise that resolves then, or when they have waited long enough */
  #gather(): Promise<void> | undefined {
    if (this.#running === 0 || this.#batches.waiting >= BATCH_MAX) return undefined
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS)
      this.#writeNow = () => {
        clearTimeout(timer)
        this.#writeNow = undefined
        resolve()
      }
    })
  }

  /** The attempt row of one request. */
  attemptOf(
    webhook: number,
    { event, attempt }: Pick<PendingDelivery, 'event' | 'attempt'>,
    { answer, ms, headers }: AttemptOutcome,
    written: Pick<NewAttempt, 'result' | 'nextRetryAt' | 'maxAttempts'>,
  ): NewAttempt {
    return {
      webhook,
      event,
      attempt,
      ...written,
      responseStatus: answer.status,
      responseMs: ms,
      errorMessage: answer.problem === null ? null : `${answer.problem}: ${answer.text}`,
      responseBody: answer.body,
      requestHeaders: headers,
      // Counted from the event, also for a replay.
      payloadExpiresAt: event.createdAt + this.#deps.payloadDays * DAY_MS,
      createdAt: this.#deps.clock.now(),
    }
  }

  #writeBatch(tx: Tx, all: readonly FinishedAttempt[]): undefined[] {
    const { attempts, pending } = this.#deps
    const batch: WriteBatch = { webhooks: new Map(), lastSucceeded: new Set(), attempts: [], done: [] }
    for (const finished of all) this.#writeOne(tx, batch, finished)
    attempts.insertAll(tx, batch.attempts)
    pending.drop(tx, batch.done)
    return all.map(() => undefined)
  }

  /** Reads the subscription again: it may have been deleted or disabled during the request. */
  #writeOne(tx: Tx, batch: WriteBatch, { webhook: n, delivery, outcome }: FinishedAttempt): void {
    const { webhooks, pending, clock, guard, random = Math.random } = this.#deps
    if (!batch.webhooks.has(n)) batch.webhooks.set(n, webhooks.byN(n, tx))
    const webhook = batch.webhooks.get(n)
    if (webhook === undefined) {
      batch.done.push(delivery.n)
      return
    }
    const { answer } = outcome
    let result = resultOf(answer)
    let nextAt: number | null = null
    if (result === 'retrying') {
      // An untrusted clock must not expire a delivery; the number of attempts still does.
      const endsAt = guard.isHeld() ? Number.POSITIVE_INFINITY : delivery.endsAt
      const requested = answer.mayAskToWait ? retryAfterMs(answer.retryAfter, clock.now()) : 0
      nextAt =
        webhook.status === 'enabled' ? nextAttemptAt(delivery.attempt, clock.now(), endsAt, requested, random()) : null
      if (nextAt === null) result = 'failed'
    }
    batch.attempts.push(
      this.attemptOf(n, delivery, outcome, { result, nextRetryAt: nextAt, maxAttempts: ATTEMPTS_MAX }),
    )
    if (!batch.lastSucceeded.has(n)) webhooks.noteAttempt(tx, n, result === 'success')
    if (result === 'success') batch.lastSucceeded.add(n)
    else batch.lastSucceeded.delete(n)
    if (nextAt !== null) {
      pending.postpone(tx, delivery.n, delivery.attempt + 1, nextAt)
      return
    }
    batch.done.push(delivery.n)
    if (result !== 'success') this.#noteFailure(tx, batch, webhook, result, answer)
  }

  #noteFailure(tx: Tx, batch: WriteBatch, webhook: Webhook, result: AttemptResult, answer: PostResult): void {
    const { webhooks, guard } = this.#deps
    // The calls below may disable it.
    batch.webhooks.delete(webhook.n)
    if (result === 'permanent_failure' && answer.problem === 'address_not_allowed') {
      if (webhook.status === 'enabled') webhooks.disable(tx, webhook.n, 'url_not_allowed')
    } else if (answer.problem !== 'internal_error') {
      // A fault of this server must not disable the webhook.
      webhooks.noteExhausted(tx, webhook.n, guard.isHeld())
    }
  }
}

/** The result of an attempt by its response. */
export function resultOf(answer: PostResult): AttemptResult {
  if (answer.problem === 'address_not_allowed') return 'permanent_failure'
  return answer.accepted && answer.problem === null ? 'success' : 'retrying'
}
