// Limits the concurrent requests of one owner to one route (docs/design/http.md §9).

import { ProductError } from '../base/errors.ts'

const RETRY_SECONDS = 1

export class ConcurrencyLimits {
  readonly #taken = new Map<string, number>()

  /**
   * @param key route and owner
   * @returns a function that releases it
   * @throws ProductError rate_limit_exceeded at the limit
   */
  acquire(key: string, limit: number): () => void {
    const taken = this.#taken.get(key) ?? 0
    if (taken >= limit) {
      throw new ProductError(
        'rate_limit_exceeded',
        `Too many of these requests run at the same time; at most ${limit} may. Wait, then try again.`,
        {
          retryAfter: RETRY_SECONDS,
        },
      )
    }
    this.#taken.set(key, taken + 1)
    return () => this.#release(key)
  }

  #release(key: string): void {
    const left = this.#taken.get(key)! - 1
    if (left === 0) this.#taken.delete(key)
    else this.#taken.set(key, left)
  }
}
