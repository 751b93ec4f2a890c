// One try to tell one event to one subscription: sent, judged by its answer, written down.

import type { Clock } from '../../base/clock.ts'
import type { PostResult, SafeFetch } from '../../base/safe-fetch.ts'
import type { Db, Tx } from '../../db/db.ts'
import type { Attempts, NewAttempt } from './attempts.ts'
import type { AttemptResult, Waiting as WaitingEvent, Webhook } from './records.ts'
import { ATTEMPTS_MAX, nextTry, retryAfterMs } from './schedule.ts'
import { headersOf } from './sign.ts'
import type { Webhooks } from './subscriptions.ts'
import { checkUrl } from './url.ts'
import type { Waiting } from './waiting.ts'

const DAY_MS = 24 * 60 * 60 * 1000

interface Parts {
  db: Db
  clock: Clock
  fetch: SafeFetch
  webhooks: Webhooks
  attempts: Attempts
  waiting: Waiting
  /** Days the payload of a try is kept. */
  payloadDays: number
  /** 0 to 1, for the jitter of retries. */
  random?: () => number
}

/** What a try found. */
interface Tried {
  answer: PostResult
  ms: number
  headers: Record<string, string>
}

export class Courier {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Sends a waiting event to its subscription. Resolves when the answer is there.
   * @returns what writes the outcome down; resolves when that is durable
   */
  async tell(webhook: Webhook, item: WaitingEvent): Promise<() => Promise<void>> {
    const tried = await this.#post(webhook, item.event, item.attempt)
    return () => this.#parts.db.write((tx) => this.#settle(tx, webhook.n, item, tried))
  }

  /** Tells one event at once and once, whatever the subscription asks for. @returns the id of the attempt */
  async test(webhook: Webhook, event: WaitingEvent['event']): Promise<string> {
    const tried = await this.#post(webhook, event, 1)
    const result = judge(tried.answer)
    return this.#parts.db.write(async (tx) => {
      await this.#parts.webhooks.noteTry(tx, webhook.n, result === 'success')
      return this.#note(tx, webhook.n, { event, attempt: 1 }, tried, result === 'retrying' ? 'failed' : result, null, 1)
    })
  }

  async #post(webhook: Webhook, event: WaitingEvent['event'], attempt: number): Promise<Tried> {
    const { clock, fetch, webhooks } = this.#parts
    const secrets = await webhooks.secretsOf(webhook.n)
    if (secrets === undefined) return { answer: GONE, ms: 0, headers: {} }
    const headers = headersOf({ event, attempt, now: clock.now(), ...secrets })
    const began = clock.now()
    try {
      checkUrl(webhook.url)
    } catch {
      return { answer: NOT_VALID, ms: 0, headers }
    }
    const answer = await fetch.post(webhook.url, headers, event.body)
    return { answer, ms: clock.now() - began, headers }
  }

  /** The subscription is looked at again: it may have been deleted or switched off while the request was under way. */
  async #settle(tx: Tx, n: number, item: WaitingEvent, tried: Tried): Promise<void> {
    const { webhooks, waiting, clock, random = Math.random } = this.#parts
    const webhook = await webhooks.byN(n, tx)
    if (webhook === undefined) return waiting.drop(tx, item.n)
    const { answer } = tried
    let result = judge(answer)
    let nextAt: number | null = null
    if (result === 'retrying') {
      const asked = answer.mayAskToWait ? retryAfterMs(answer.retryAfter, clock.now()) : 0
      nextAt = webhook.status === 'enabled' ? nextTry(item.attempt, clock.now(), item.endsAt, asked, random()) : null
      if (nextAt === null) result = 'failed'
    }
    await webhooks.noteTry(tx, n, result === 'success')
    await this.#note(tx, n, item, tried, result, nextAt, ATTEMPTS_MAX)
    if (nextAt !== null) return waiting.postpone(tx, item.n, item.attempt + 1, nextAt)
    await waiting.drop(tx, item.n)
    if (result === 'permanent_failure' && answer.problem === 'address_not_allowed') {
      if (webhook.status === 'enabled') await webhooks.disable(tx, n, 'url_not_allowed')
    } else if (result !== 'success') {
      await webhooks.noteExhausted(tx, n)
    }
  }

  #note(
    tx: Tx,
    webhook: number,
    { event, attempt }: Pick<WaitingEvent, 'event' | 'attempt'>,
    { answer, ms, headers }: Tried,
    result: AttemptResult,
    nextRetryAt: number | null,
    maxAttempts: number,
  ): Promise<string> {
    const now = this.#parts.clock.now()
    const made: NewAttempt = {
      webhook,
      event,
      result,
      responseStatus: answer.status,
      responseMs: ms,
      attempt,
      maxAttempts,
      nextRetryAt,
      errorMessage: answer.problem === null ? null : `${answer.problem}: ${answer.text}`,
      responseBody: answer.body,
      requestHeaders: headers,
      // The event itself is kept so long, whenever it is told once more.
      payloadExpiresAt: event.createdAt + this.#parts.payloadDays * DAY_MS,
      createdAt: now,
    }
    return this.#parts.attempts.insert(tx, made)
  }
}

const NOTHING = { status: 0, body: null, retryAfter: null, accepted: false, mayAskToWait: false }
/** The subscription went away before its turn; nothing is written about it. */
const GONE: PostResult = { ...NOTHING, problem: 'connect_error', text: 'The webhook is gone.' }
const NOT_VALID: PostResult = { ...NOTHING, problem: 'address_not_allowed', text: 'The url is no longer allowed.' }

function judge(answer: PostResult): AttemptResult {
  if (answer.problem === 'address_not_allowed') return 'permanent_failure'
  return answer.accepted && answer.problem === null ? 'success' : 'retrying'
}
