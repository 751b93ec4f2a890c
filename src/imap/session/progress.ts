// Says that a long command goes on (INPROGRESS, RFC 9585).

import type { Clock } from '../../base/clock.ts'
import { PROGRESS_MS } from '../grammar/limits.ts'
import type { ResponseWriter } from '../grammar/writer.ts'

export class CommandProgress {
  /** A response has been sent in part: nothing can be said before its end. */
  isWithinResponse = false
  readonly #clock: Clock
  #tag: string | null = null
  #saidAt = 0
  #done: number | null = null
  #goal: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A command begins. */
  began(tag: string): void {
    this.#tag = tag
    this.#saidAt = this.#clock.monotonic()
    this.#done = this.#goal = null
  }

  ended(): void {
    this.#tag = null
  }

  /** How many messages of the command have been processed, and of how many, where that is known. */
  reached(done: number, goal: number | null = null): void {
    this.#done = done
    // RFC 9585 §4: the goal is not 0, and what is done is below it.
    this.#goal = goal !== null && goal > done ? goal : null
  }

  /** Says what is due after `interval`, ms. A client that does not read hears of it from what waits for it. */
  sayTo(writer: Pick<ResponseWriter, 'blockedSince' | 'write'>, interval = PROGRESS_MS): void {
    const now = this.#clock.monotonic()
    if (this.#tag === null || this.isWithinResponse || now - this.#saidAt < interval) return
    if (writer.blockedSince !== null) return
    this.#saidAt = now
    writer.write(this.#line(this.#tag))
  }

  #line(tag: string): string {
    // A bracket would end the response code for many clients (RFC 9585 §4).
    const quoted = tag.includes(']') ? 'NIL' : `"${tag}"`
    const [done, goal] = [this.#done, this.#goal]
    const of = goal === null ? '' : ` of ${goal}`
    const text = done === null ? 'Still working.' : `Processed ${done}${of} messages.`
    return `* OK [INPROGRESS (${quoted} ${done ?? 'NIL'} ${goal ?? 'NIL'})] ${text}\r\n`
  }
}
