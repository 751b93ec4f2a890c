// Cleans messages: small texts inline, HTML and large texts in a worker thread.

import { type Clock, systemClock } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import { entryFile } from '../base/entry.ts'
import { ProductError } from '../base/errors.ts'
import { ThreadPool } from '../base/thread-pool.ts'
import type { CleanContent } from '../content/clean/content.ts'
import { type CleanTask, cleanTextTask } from './clean-task.ts'

/** Largest text in bytes that is cleaned on the calling thread. */
export const INLINE_MAX = 8 * 1024
/** An idle thread is stopped after this time. */
const IDLE_MS = MINUTE_MS
/** Timeout of one message, which normally takes a hundredth of it. */
const TIMEOUT_MS = 10_000
const QUEUE_MAX = 200
/** MiB. */
const MEMORY = { young: 32, old: 256 }

export class Cleaner {
  readonly #pool = new ThreadPool<CleanTask, CleanContent>({
    file: entryFile(new URL('./clean-thread.ts', import.meta.url)),
    queueMax: QUEUE_MAX,
    idleMs: IDLE_MS,
    memory: MEMORY,
  })

  readonly #clock: Clock

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** @throws ProductError service_unavailable after the timeout, when the thread died or its queue is full */
  async clean(task: CleanTask): Promise<CleanContent> {
    const isSmall = task.isHtml !== true && (task.text?.bytes.length ?? 0) <= INLINE_MAX
    const inline = isSmall ? cleanTextTask(task) : null
    if (inline !== null) return inline
    const timeout = new AbortController()
    const timer = this.#clock.after(TIMEOUT_MS, () => timeout.abort())
    try {
      return await this.#pool.run(task, { signal: timeout.signal })
    } catch (cause) {
      throw new ProductError('service_unavailable', 'The message could not be cleaned. Try again.', { cause })
    } finally {
      timer.cancel()
    }
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}
