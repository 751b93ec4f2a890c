// Throttles single resources: a number of requests in a period, for one owner (docs/design/http.md §9).

import type { Clock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import type { ThrottleLimit } from './route.ts'

// Resources in memory; the least recently used is dropped first.
const KEPT_MAX = 10_000

export class Throttle {
  readonly #clock: Clock
  /** Times of the admitted requests, oldest first; of a clock that cannot be set, so that a jump prolongs no wait. */
  readonly #times = new Map<string, number[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * @param key route, owner and resource
   * @throws ProductError rate_limit_exceeded with the seconds until the next request is admitted
   */
  admit(key: string, limit: ThrottleLimit): void {
    const now = this.#clock.monotonic()
    const recent = (this.#times.get(key) ?? []).filter((time) => time > now - limit.seconds * 1000)
    if (recent.length >= limit.times) {
      const wait = recent[0]! + limit.seconds * 1000 - now
      throw new ProductError('rate_limit_exceeded', 'Too many requests to this resource. Wait, then try again.', {
        retryAfter: Math.max(1, Math.ceil(wait / 1000)),
      })
    }
    this.#times.delete(key)
    this.#times.set(key, [...recent, now])
    if (this.#times.size > KEPT_MAX) {
      const [oldest] = this.#times.keys()
      this.#times.delete(oldest!)
    }
  }
}
