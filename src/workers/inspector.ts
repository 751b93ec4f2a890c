// The pool of threads that inspect arriving mail, so that no listener waits for a signature or a parser.

import { stat } from 'node:fs/promises'
import { Piscina } from 'piscina'
import { type Clock, systemClock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { Semaphore } from '../base/semaphore.ts'

import type { MailSource, Showing, Shown, ThreadSettings } from './inspect-thread.ts'
import type { Inspection, InspectionRequest, Reading } from './inspection.ts'

/** Mails in work in one thread: most of the time they wait for name servers. */
const TASKS_PER_THREAD = 16
/** Mails from this size on wait for one another. */
const LARGE_FROM_BYTES = 1024 * 1024
/** Bytes of such mails in work at a time; each is in memory about four times while it is. */
const LARGE_BYTES_AT_ONCE = 64 * 1024 * 1024
/** A thread without mail for so long is ended. */
const IDLE_MS = 600_000
/** A mail that takes longer holds its thread up: the check itself ends after 10 s. */
const PATIENCE_MS = 120_000

/** MiB. A small young generation keeps garbage from piling up; the old one is far above what a mail within bounds needs. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 512 }

export interface InspectorOptions {
  threads: number
  /** As DNS_SERVERS; empty: those of the system. */
  dnsServers: string[]
  clock?: Clock
}

export class Inspector {
  readonly #pool: Piscina
  readonly #clock: Clock
  readonly #large = new Semaphore(LARGE_BYTES_AT_ONCE)
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false

  constructor(options: InspectorOptions) {
    this.#clock = options.clock ?? systemClock
    this.#pool = new Piscina({
      filename: new URL('./inspect-thread.ts', import.meta.url).href,
      name: 'inspectTask',
      // A thread costs some 40 MB: there is none before the first mail, and none a while after the last one.
      minThreads: 0,
      maxThreads: options.threads,
      idleTimeout: IDLE_MS,
      concurrentTasksPerWorker: TASKS_PER_THREAD,
      workerData: { dnsServers: options.dnsServers } satisfies ThreadSettings,
      recordTiming: false,
      resourceLimits: THREAD_MEMORY,
    })
    // A thread that dies without work is replaced by the pool; one with work rejects its tasks.
    this.#pool.on('error', () => {})
  }

  /**
   * Inspects one mail. The bytes are copied to the thread; a file is read there.
   * @throws ProductError service_unavailable when the thread dies, the file cannot be read or the pool is closed: the mail
   *   may be handed in again
   */
  async inspect(source: MailSource, arrival: InspectionRequest): Promise<Inspection> {
    const measure = async () => ('file' in source ? (await stat(source.file)).size : source.bytes.length)
    return this.#during(measure, async () => {
      if ('file' in source) return this.#pool.run({ source, arrival })
      const bytes = new Uint8Array(source.bytes)
      return this.#pool.run({ source: { bytes }, arrival }, handing(bytes))
    })
  }

  /**
   * Reads a mail that is kept as it is.
   * @param sizeBytes of the mail, known before its bytes are
   * @param take gives them, asked for once there is room for them; they are copied to the thread
   * @throws ProductError service_unavailable as `inspect`
   */
  async read(sizeBytes: number, take: () => Promise<Uint8Array>): Promise<Reading> {
    return this.#during(
      async () => sizeBytes,
      async () => {
        const bytes = new Uint8Array(await take())
        return this.#pool.run({ bytes }, { name: 'readTask', ...handing(bytes) })
      },
    )
  }

  /** The same for a mail that is shown and not kept. */
  async show(sizeBytes: number, take: () => Promise<Uint8Array>, showing: Showing): Promise<Shown> {
    return this.#during(
      async () => sizeBytes,
      async () => {
        const bytes = new Uint8Array(await take())
        return this.#pool.run({ ...showing, bytes }, { name: 'showTask', ...handing(bytes) })
      },
    )
  }

  /** Waits for what is under way, then ends the threads. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
    await this.#pool.destroy()
  }

  /** Does the work of one mail when there is room for it, and not for ever. */
  async #during<T>(measure: () => Promise<number>, work: () => Promise<T>): Promise<T> {
    const call = this.#inTurn(measure, work)
    this.#underWay.add(call)
    try {
      return await call
    } catch (cause) {
      throw new ProductError('service_unavailable', 'The mail could not be inspected now.', { cause })
    } finally {
      this.#underWay.delete(call)
    }
  }

  async #inTurn<T>(measure: () => Promise<number>, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Error('The inspector is closed.')
    const sizeBytes = await measure()
    const release = sizeBytes < LARGE_FROM_BYTES ? () => {} : await this.#large.acquire(sizeBytes)
    const watch = this.#clock.after(PATIENCE_MS, () => this.#endThreads())
    try {
      return await work()
    } finally {
      watch.cancel()
      release()
    }
  }

  /** Nobody can say which thread hangs. All calls under way are rejected, and the pool starts new threads. */
  #endThreads(): void {
    for (const thread of this.#pool.threads) void thread.terminate()
  }
}

/** A copy of its own is handed over: a slice of a larger buffer would take that whole buffer along. */
function handing(bytes: Uint8Array): { transferList: never } {
  return { transferList: [bytes.buffer] as never }
}
