// Failed sign-ins by password or code: a person is locked for a source after a few, and for every unknown source after many.

import type { Clock } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'

/** Failures from one source until the person is locked for it. */
export const FAILURES_MAX = 5
/** Failures from all sources until the person is locked for every one where they are not signed in. */
export const FAILURES_OVERALL = 100
/** How long failures count, and a lock lasts, ms. */
export const LOCK_MS = 15 * MINUTE_MS
const KEPT_MAX = 10_000

export class SignInAttempts {
  readonly #clock: Clock
  /** Times of failures by person and source, and by person. */
  readonly #failures = new Map<string, number[]>()

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock
  }

  /**
   * Counts an attempt before it is checked, so that concurrent ones count too. The same for persons who do not exist.
   * @param isKnown whether the person is signed in there: strangers elsewhere then cannot lock them out
   * @returns to be called when it succeeded
   * @throws ProductError rate_limit_exceeded with the seconds until the lock ends
   */
  begin(email: string, source: string, isKnown: boolean): () => void {
    const keys: [key: string, max: number][] = [
      [`${email} ${source}`, FAILURES_MAX],
      [email, FAILURES_OVERALL],
    ]
    const now = this.#clock.now()
    for (const [key, max] of keys) {
      const recent = this.#recent(key)
      if (recent.length < max || (isKnown && key === email)) continue
      const retryAfter = Math.ceil((recent[0]! + LOCK_MS - now) / 1000)
      throw new ProductError('rate_limit_exceeded', 'Too many failed sign-ins. Wait, or sign in another way.', {
        retryAfter,
      })
    }
    for (const [key] of keys) this.#keep(key, [...this.#recent(key), now])
    return () => {
      this.#failures.delete(`${email} ${source}`)
      const left = this.#recent(email)
      this.#keep(email, left.toSpliced(left.lastIndexOf(now), left.includes(now) ? 1 : 0))
    }
  }

  #recent(key: string): number[] {
    const since = this.#clock.now() - LOCK_MS
    return (this.#failures.get(key) ?? []).filter((time) => time > since)
  }

  #keep(key: string, times: number[]): void {
    this.#failures.delete(key)
    if (times.length > 0) this.#failures.set(key, times)
    if (this.#failures.size <= KEPT_MAX) return
    const [oldest] = this.#failures.keys()
    this.#failures.delete(oldest!)
  }
}
