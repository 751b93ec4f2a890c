// Writes down what became of tellings: those that end while others are being written travel together, in one unit of work.

import type { Clock } from '../../base/clock.ts'
import type { ClockDoubt } from '../../base/clock-guard.ts'
import type { PostResult } from '../../base/safe-fetch.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { Attempts, NewAttempt } from './attempts.ts'
import type { Waiting } from './pending.ts'
import type { AttemptResult, Waiting as WaitingEvent, Webhook } from './records.ts'
import { ATTEMPTS_MAX, nextTry, retryAfterMs } from './schedule.ts'
import type { Webhooks } from './subscriptions.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Tellings written down in one unit of work. */
const TOGETHER_MAX = 32

/** What a try found. */
export interface Tried {
  answer: PostResult
  ms: number
  headers: Record<string, string>
}

/** A telling that has ended. */
interface Ended {
  webhook: number
  item: WaitingEvent
  tried: Tried
}

interface Call {
  ended: Ended
  resolve(): void
  reject(error: unknown): void
}

export interface SettlingParts {
  db: Db
  clock: Clock
  guard: ClockDoubt
  webhooks: Webhooks
  attempts: Attempts
  waiting: Waiting
  /** Days the payload of a try is kept. */
  payloadDays: number
  /** 0 to 1, for the jitter of retries. */
  random?: () => number
}

/** What one unit of work knows and has still to write. */
interface Round {
  /** As the unit of work read them; whatever changes one takes it out. */
  known: Map<number, Webhook | undefined>
  /** Subscriptions of which a success was the last thing noted. */
  well: Set<number>
  made: NewAttempt[]
  done: number[]
}

export class Settling {
  readonly #parts: SettlingParts
  readonly #calls: Call[] = []
  #writing = false

  constructor(parts: SettlingParts) {
    this.#parts = parts
  }

  /** Writes down the outcome of a try and what follows from it. Resolves when that is durable. */
  settle(webhook: number, item: WaitingEvent, tried: Tried): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#calls.push({ ended: { webhook, item, tried }, resolve, reject })
      void this.#writeAll()
    })
  }

  /** What is to be written of one try. */
  attemptOf(
    webhook: number,
    { event, attempt }: Pick<WaitingEvent, 'event' | 'attempt'>,
    { answer, ms, headers }: Tried,
    outcome: Pick<NewAttempt, 'result' | 'nextRetryAt' | 'maxAttempts'>,
  ): NewAttempt {
    return {
      webhook,
      event,
      attempt,
      ...outcome,
      responseStatus: answer.status,
      responseMs: ms,
      errorMessage: answer.problem === null ? null : `${answer.problem}: ${answer.text}`,
      responseBody: answer.body,
      requestHeaders: headers,
      // The event itself is kept so long, whenever it is told once more.
      payloadExpiresAt: event.createdAt + this.#parts.payloadDays * DAY_MS,
      createdAt: this.#parts.clock.now(),
    }
  }

  async #writeAll(): Promise<void> {
    if (this.#writing) return
    this.#writing = true
    while (this.#calls.length > 0) {
      const calls = this.#calls.splice(0, TOGETHER_MAX)
      // What cannot be written of one must not keep the others from being written.
      if (!(await this.#write(calls, calls.length === 1))) {
        for (const call of calls) await this.#write([call], true)
      }
    }
    this.#writing = false
  }

  /** @returns false when it failed and nobody was told of that */
  async #write(calls: readonly Call[], isLast: boolean): Promise<boolean> {
    try {
      await this.#parts.db.write((tx) => this.#round(tx, calls))
    } catch (error) {
      if (!isLast) return false
      for (const call of calls) call.reject(error)
      return true
    }
    for (const call of calls) call.resolve()
    return true
  }

  async #round(tx: Tx, calls: readonly Call[]): Promise<void> {
    const { attempts, waiting } = this.#parts
    const round: Round = { known: new Map(), well: new Set(), made: [], done: [] }
    for (const { ended } of calls) await this.#one(tx, round, ended)
    await attempts.insertAll(tx, round.made)
    await waiting.dropAll(tx, round.done)
  }

  /** The subscription is looked at again: it may have been deleted or switched off while the request was under way. */
  async #one(tx: Tx, round: Round, { webhook: n, item, tried }: Ended): Promise<void> {
    const { webhooks, waiting, clock, guard, random = Math.random } = this.#parts
    if (!round.known.has(n)) round.known.set(n, await webhooks.byN(n, tx))
    const webhook = round.known.get(n)
    if (webhook === undefined) {
      round.done.push(item.n)
      return
    }
    const { answer } = tried
    let result = judge(answer)
    let nextAt: number | null = null
    if (result === 'retrying') {
      // A clock that is in doubt ends nothing; the number of tries does.
      const endsAt = guard.isHeld() ? Number.POSITIVE_INFINITY : item.endsAt
      const asked = answer.mayAskToWait ? retryAfterMs(answer.retryAfter, clock.now()) : 0
      nextAt = webhook.status === 'enabled' ? nextTry(item.attempt, clock.now(), endsAt, asked, random()) : null
      if (nextAt === null) result = 'failed'
    }
    round.made.push(this.attemptOf(n, item, tried, { result, nextRetryAt: nextAt, maxAttempts: ATTEMPTS_MAX }))
    if (!round.well.has(n)) await webhooks.noteTry(tx, n, result === 'success')
    if (result === 'success') round.well.add(n)
    else round.well.delete(n)
    if (nextAt !== null) return waiting.postpone(tx, item.n, item.attempt + 1, nextAt)
    round.done.push(item.n)
    if (result !== 'success') await this.#noteFailure(tx, round, webhook, result, answer)
  }

  async #noteFailure(tx: Tx, round: Round, webhook: Webhook, result: AttemptResult, answer: PostResult): Promise<void> {
    const { webhooks } = this.#parts
    // What follows may switch it off.
    round.known.delete(webhook.n)
    if (result === 'permanent_failure' && answer.problem === 'address_not_allowed') {
      if (webhook.status === 'enabled') await webhooks.disable(tx, webhook.n, 'url_not_allowed')
    } else {
      await webhooks.noteExhausted(tx, webhook.n)
    }
  }
}

/** What an answer means for the try. */
export function judge(answer: PostResult): AttemptResult {
  if (answer.problem === 'address_not_allowed') return 'permanent_failure'
  return answer.accepted && answer.problem === null ? 'success' : 'retrying'
}
