// One try to tell one event to one subscription: sent, judged by its answer, written down.

import type { PostResult, SafeFetch } from '../../base/safe-fetch.ts'
import { judge, Settling, type SettlingParts, type Tried } from './outcomes.ts'
import type { Addressee, Waiting as WaitingEvent, Webhook } from './records.ts'
import { headersOf } from './sign.ts'
import { checkUrl } from './url.ts'

interface Parts extends SettlingParts {
  fetch: SafeFetch
}

export class Courier {
  readonly #parts: Parts
  readonly #settling: Settling

  constructor(parts: Parts) {
    this.#parts = parts
    this.#settling = new Settling(parts)
  }

  /**
   * Sends a waiting event to its subscription. Resolves when the answer is there.
   * @returns what writes the outcome down; resolves when that is durable
   */
  async tell(to: Addressee, item: WaitingEvent): Promise<() => Promise<void>> {
    const tried = await this.#post(to, item.event, item.attempt)
    return () => this.#settling.settle(to.webhook.n, item, tried)
  }

  /** Tells one event at once and once, whatever the subscription asks for. @returns the id of the attempt */
  async test({ n }: Webhook, event: WaitingEvent['event']): Promise<string> {
    const { db, webhooks, attempts } = this.#parts
    const to = await webhooks.addressee(n)
    const tried = to === undefined ? GONE : await this.#post(to, event, 1)
    const judged = judge(tried.answer)
    const result = judged === 'retrying' ? 'failed' : judged
    return db.write(async (tx) => {
      await webhooks.noteTry(tx, n, result === 'success')
      const outcome = { result, nextRetryAt: null, maxAttempts: 1 }
      const [id] = await attempts.insertAll(tx, [this.#settling.attemptOf(n, { event, attempt: 1 }, tried, outcome)])
      return id!
    })
  }

  async #post({ webhook, secrets }: Addressee, event: WaitingEvent['event'], attempt: number): Promise<Tried> {
    const { clock, fetch } = this.#parts
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
}

const NOTHING = { status: 0, body: null, retryAfter: null, accepted: false, mayAskToWait: false }
const NOT_VALID: PostResult = { ...NOTHING, problem: 'address_not_allowed', text: 'The url is no longer allowed.' }
/** The subscription went away before its turn. */
const GONE: Tried = {
  answer: { ...NOTHING, problem: 'connect_error', text: 'The webhook is gone.' },
  ms: 0,
  headers: {},
}
