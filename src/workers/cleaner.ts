// Cleans messages: small texts at once; HTML and large texts in a thread, so that no other request waits for them.

import { Piscina } from 'piscina'
import { type Clock, systemClock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import type { CleanContent } from '../content/clean/content.ts'
import { type CleanTask, cleanTextTask } from './clean-task.ts'

/** Bytes of a text that is cleaned on the calling thread. */
export const HERE_MAX = 8 * 1024
/** A thread without work for so long is ended. */
const IDLE_MS = 60_000
/** What takes longer is given up: a mail within bounds takes a hundredth of it. */
const PATIENCE_MS = 10_000
const WAITING_MAX = 200
/** MiB. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 256 }

export class Cleaner {
  readonly #pool = new Piscina<CleanTask, CleanContent>({
    filename: new URL('./clean-thread.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: WAITING_MAX,
    idleTimeout: IDLE_MS,
    resourceLimits: THREAD_MEMORY,
    recordTiming: false,
  })

  readonly #clock: Clock

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
    // A thread that dies without work is replaced by the pool; one with work rejects its task.
    this.#pool.on('error', () => {})
  }

  /** @throws ProductError service_unavailable when the thread gave up or too many wait for it */
  async clean(task: CleanTask): Promise<CleanContent> {
    const here = (task.text?.bytes.length ?? 0) <= HERE_MAX ? cleanTextTask(task) : null
    if (here !== null) return here
    const patience = new AbortController()
    const watch = this.#clock.after(PATIENCE_MS, () => patience.abort())
    try {
      return await this.#pool.run(task, { signal: patience.signal })
    } catch (cause) {
      throw new ProductError('service_unavailable', 'The message could not be cleaned now.', { cause })
    } finally {
      watch.cancel()
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}
