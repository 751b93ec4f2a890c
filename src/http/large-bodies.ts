// Large bodies: how many are taken at a time, and the thread they are read in, so that nobody else waits for them.

import { Piscina } from 'piscina'
import { ProductError, productError } from '../base/errors.ts'
import { Semaphore } from '../base/semaphore.ts'
import type { LargeBody, ReadLarge } from './large-body.ts'

/** Bytes of large bodies on their way or in work at a time: three of the largest. Others wait before they are read off the wire. */
export const LARGE_BYTES_AT_ONCE = 3 * 64 * 1024 * 1024
/** A thread without work for so long is ended. */
const IDLE_MS = 60_000
/** MiB; a body of 64 MiB in wide characters takes about half of it. What is built to need more ends the thread, not the house. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 32, maxOldGenerationSizeMb: 768 }

export class LargeBodies {
  readonly #memory = new Semaphore(LARGE_BYTES_AT_ONCE)
  readonly #pool = new Piscina<LargeBody, ReadLarge>({
    // A thread costs some 40 MB: there is none before the first large body, and none a while after the last one.
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: THREAD_MEMORY,
    recordTiming: false,
  })

  constructor() {
    // A thread that dies without work is replaced by the pool; one with work rejects its task.
    this.#pool.on('error', () => {})
  }

  /** Waits until there is room for so many bytes. @returns what gives it back */
  reserve(bytes: number): Promise<() => void> {
    return this.#memory.acquire(bytes)
  }

  /**
   * Reads a body in the thread; its pieces are handed over and gone.
   * @param filename what the thread runs: see Route.reader
   * @throws ProductError what the body is refused with; service_unavailable when the thread gave up
   */
  async read(filename: string, body: LargeBody): Promise<{ value: object; digest: Uint8Array | null }> {
    const transferList = body.pieces.map(({ buffer }) => buffer) as never
    const result = await this.#pool.run(body, { filename, transferList }).catch((cause: unknown) => {
      throw new ProductError('service_unavailable', 'The body could not be read now.', { cause })
    })
    if ('refused' in result) throw productError(result.refused)
    return result
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }
}
