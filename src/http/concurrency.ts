// How many requests of one kind one owner may have under way at a time (decisions §1.9).

import { ProductError } from '../base/errors.ts'

const RETRY_SECONDS = 1

export class Places {
  readonly #taken = new Map<string, number>()

  /**
   * @param key what is counted: the route and whose
   * @returns what gives the place back
   * @throws ProductError rate_limit_exceeded when all places are taken
   */
  take(key: string, places: number): () => void {
    const taken = this.#taken.get(key) ?? 0
    if (taken >= places) {
      throw new ProductError('rate_limit_exceeded', `At most ${places} of these may be under way at a time.`, {
        retryAfter: RETRY_SECONDS,
      })
    }
    this.#taken.set(key, taken + 1)
    return () => this.#give(key)
  }

  #give(key: string): void {
    const left = this.#taken.get(key)! - 1
    if (left === 0) this.#taken.delete(key)
    else this.#taken.set(key, left)
  }
}
