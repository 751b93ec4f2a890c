// Failed sign-ins by password or code: a person is locked for a source after a few, and for every unknown source after many.

import type { Clock } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'

/** Failures from one source, or one known browser, until the person is locked for it. */
export const FAILURES_MAX = 5
/** Failures from all sources until the person is locked for every one where they are not signed in. */
export const FAILURES_OVERALL = 100
/** How long failures count, and a lock lasts, ms. */
export const LOCK_MS = 15 * MINUTE_MS
const KEPT_MAX = 10_000

/** Where an attempt comes from. */
export interface AttemptOrigin {
  source: string
  /**
   * The key of a browser the person signed in with before, or of their open session; null without one. Its failures count apart, so that
   * strangers lock it neither from elsewhere nor from the same source.
   */
  known: string | null
  /** Whether the person is signed in at the source. */
  isSignedIn: boolean
}

/** An attempt that was counted. */
export interface CountedAttempt {
  /** The proof was right: earlier failures of the origin no longer count. */
  succeed(): void
  /** Nothing was checked: the attempt does not count. */
  takeBack(): void
}

export class SignInAttempts {
  readonly #clock: Clock
  /** Times of failures by person and source, by person and known browser, and by person; of a clock that cannot be set. */
  readonly #failures = new Map<string, number[]>()

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock
  }

  /**
   * Counts an attempt before it is checked, so that concurrent ones count too. The same for persons who do not exist.
   * @throws ProductError rate_limit_exceeded with the seconds until the lock ends
   */
  begin(email: string, { source, known, isSignedIn }: AttemptOrigin): CountedAttempt {
    const own = known === null ? `${email} ${source}` : `${email} known ${known}`
    const counted = known === null ? [own, email] : [own]
    this.#refuseLocked(own, FAILURES_MAX)
    if (known === null && !isSignedIn) this.#refuseLocked(email, FAILURES_OVERALL)
    const now = this.#clock.monotonic()
    for (const key of counted) this.#keep(key, [...this.#recent(key), now])
    const takeBack = (key: string) => {
      const remaining = this.#recent(key)
      const at = remaining.lastIndexOf(now)
      this.#keep(key, at === -1 ? remaining : remaining.toSpliced(at, 1))
    }
    return {
      succeed: () => {
        for (const key of counted) takeBack(key)
        this.#failures.delete(own)
      },
      takeBack: () => {
        for (const key of counted) takeBack(key)
      },
    }
  }

  #refuseLocked(key: string, max: number): void {
    const recent = this.#recent(key)
    if (recent.length < max) return
    const retryAfter = Math.ceil((recent[0]! + LOCK_MS - this.#clock.monotonic()) / 1000)
    throw new ProductError('rate_limit_exceeded', 'Too many failed sign-ins. Wait, or sign in another way.', {
      retryAfter,
    })
  }

  #recent(key: string): number[] {
    const since = this.#clock.monotonic() - LOCK_MS
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
