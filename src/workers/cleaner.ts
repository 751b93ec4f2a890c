// Cleans messages, and makes their documents: small texts inline, HTML and large texts in a worker thread.

import { type Clock, systemClock } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import { entryFile } from '../base/entry.ts'
import { ProductError } from '../base/errors.ts'
import { FairTurns, type TurnOwner } from '../base/fair-turns.ts'
import { ThreadPool } from '../base/thread-pool.ts'
import type { CleanContent } from '../content/clean/content.ts'
import type { ViewDocument } from '../content/view/view.ts'
import { type CleanTask, cleanTextTask } from './clean-task.ts'
import type { ViewTask } from './clean-view-task.ts'

/** Largest text in bytes that is cleaned on the calling thread. */
export const INLINE_MAX = 8 * 1024
/** An idle thread is stopped after this time. */
const IDLE_MS = MINUTE_MS
/** Timeout of one message, which normally takes a thousandth of it; the start of the thread counts, which takes long on a busy machine. */
const TIMEOUT_MS = 30_000
/** Messages of one owner in the queue, and of all. */
export const MESSAGES_EACH = 50
const QUEUE_MAX = 200
/** MiB. */
const MEMORY = { young: 32, old: 256 }

export class Cleaner {
  readonly #pool = new ThreadPool<CleanTask | ViewTask, unknown>({
    file: entryFile(new URL('./clean-thread.ts', import.meta.url)),
    idleMs: IDLE_MS,
    memory: MEMORY,
  })

  /** One message at a time, so that its timeout starts when its turn comes. Owners take turns. */
  readonly #turns = new FairTurns({ atOnce: 1, each: MESSAGES_EACH, waiting: QUEUE_MAX })
  readonly #clock: Clock

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /**
   * @param owner whose message it is: each has a share of the queue
   * @throws ProductError service_unavailable after the timeout, when the thread died, or the queue or the share is full
   */
  async clean(task: CleanTask, owner: TurnOwner): Promise<CleanContent> {
    const isSmall = task.isHtml !== true && (task.text?.bytes.length ?? 0) <= INLINE_MAX
    const inline = isSmall ? cleanTextTask(task) : null
    if (inline !== null) return inline
    return (await this.#run(task, owner)) as CleanContent
  }

  /**
   * Makes the document of a message for its readers.
   * @param owner as for `clean`
   * @throws ProductError as `clean`
   */
  async view(task: ViewTask, owner: TurnOwner): Promise<ViewDocument> {
    return (await this.#run(task, owner, 'view')) as ViewDocument
  }

  async #run(task: CleanTask | ViewTask, owner: TurnOwner, name?: string): Promise<unknown> {
    const turn = this.#turns.take(owner)
    if (turn === null) throw new ProductError('service_unavailable', 'Too many messages are being cleaned. Try again.')
    const end = await turn
    const timeout = new AbortController()
    const timer = this.#clock.after(TIMEOUT_MS, () => timeout.abort())
    try {
      return await this.#pool.run(task, { signal: timeout.signal, ...(name !== undefined && { task: name }) })
    } catch (cause) {
      throw new ProductError('service_unavailable', 'The message could not be cleaned. Try again.', { cause })
    } finally {
      timer.cancel()
      end()
    }
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}
