// Sends one event to one subscription and records the attempt.

import type { PostResult, SafeFetch } from '../../base/safe-fetch.ts'
import { type AttemptOutcome, OutcomeWriter, type OutcomeWriterDeps, resultOf } from './outcomes.ts'
import type { PendingDelivery, Webhook, WebhookTarget } from './records.ts'
import { headersOf } from './sign.ts'
import { checkUrl } from './url.ts'

interface Deps extends OutcomeWriterDeps {
  fetch: SafeFetch
}

export class Courier {
  readonly #deps: Deps
  readonly #outcomes: OutcomeWriter

  constructor(deps: Deps) {
    this.#deps = deps
    this.#outcomes = new OutcomeWriter(deps)
  }

  /**
   * Sends a pending delivery to its subscription. Resolves when the response has arrived.
   * @returns a function that records the outcome; it resolves when the record is durable
   */
  async send(to: WebhookTarget, delivery: PendingDelivery): Promise<() => Promise<void>> {
    const outcome = await this.#outcomes.during(this.#post(to, delivery.event, delivery.attempt))
    return () => this.#outcomes.write(to.webhook.n, delivery, outcome)
  }

  /** Sends one event immediately and once, regardless of the filters of the subscription. @returns the id of the attempt */
  async test({ n }: Webhook, event: PendingDelivery['event']): Promise<string> {
    const { db, webhooks, attempts } = this.#deps
    const to = webhooks.target(n)
    const outcome = to === undefined ? GONE : await this.#post(to, event, 1)
    const verdict = resultOf(outcome.answer)
    const result = verdict === 'retrying' ? 'failed' : verdict
    return db.write((tx) => {
      webhooks.noteAttempt(tx, n, result === 'success')
      const written = { result, nextRetryAt: null, maxAttempts: 1 }
      const [id] = attempts.insertAll(tx, [this.#outcomes.attemptOf(n, { event, attempt: 1 }, outcome, written)])
      return id!
    })
  }

  async #post(
    { webhook, secrets }: WebhookTarget,
    event: PendingDelivery['event'],
    attempt: number,
  ): Promise<AttemptOutcome> {
    const { clock, fetch } = this.#deps
    const { id, type, payload } = event
    const headers = headersOf({ event: { id, type, body: payload.bytes }, attempt, now: clock.now(), ...secrets })
    const began = clock.now()
    try {
      checkUrl(webhook.url, fetch.allowsLoopback)
    } catch {
      return { answer: NOT_VALID, ms: 0, headers }
    }
    const answer = await fetch.post(webhook.url, headers, payload.bytes)
    return { answer, ms: clock.now() - began, headers }
  }
}

const NOTHING = { status: 0, body: null, retryAfter: null, accepted: false, mayAskToWait: false }
const NOT_VALID: PostResult = { ...NOTHING, problem: 'address_not_allowed', text: 'The URL is no longer allowed.' }
/** The subscription was deleted before the request. */
const GONE: AttemptOutcome = {
  answer: { ...NOTHING, problem: 'connect_error', text: 'The webhook was deleted.' },
  ms: 0,
  headers: {},
}
