// Gives equal calls of tools within ten minutes one Idempotency-Key: clients repeat a call after a broken connection.

import { createHash } from 'node:crypto'
import { systemClock } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'

/** Equal calls within this time are one. */
const SAME_CALL_MS = 10 * MINUTE_MS

export class CallMemory {
  readonly #max: number
  readonly #known = new Map<string, { key: string; until: number }>()

  /** @param max calls that are remembered, the newest */
  constructor(max: number) {
    this.#max = max
  }

  keyOf(tool: string, input: unknown): string {
    const digest = createHash('sha256')
      .update(JSON.stringify([tool, input]))
      .digest('hex')
    const now = systemClock.monotonic()
    const known = this.#known.get(digest)
    if (known !== undefined && now < known.until) return known.key
    const key = crypto.randomUUID()
    this.#known.delete(digest)
    this.#known.set(digest, { key, until: now + SAME_CALL_MS })
    if (this.#known.size > this.#max) this.#known.delete(this.#known.keys().next().value!)
    return key
  }
}
