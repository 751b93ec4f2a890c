// Large bodies: a limit for their memory, and the thread that reads them, so that other requests are not delayed.

import type { Clock } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import { ProductError, productError } from '../base/errors.ts'
import type { LargeMemory } from '../base/lent-memory.ts'
import { shareBytes } from '../base/machine-memory.ts'
import { MemoryShares } from '../base/memory-shares.ts'
import { ThreadPool } from '../base/thread-pool.ts'
import type { LargeBody, ReadLarge } from './large-body.ts'

/** The largest body of any route. */
export const LARGEST_BYTES = 64 * 1024 * 1024
/**
 * Bytes of large bodies received or processed at a time: three of the largest, on a small machine one. Others wait before they are read from the
 * connection.
 */
export const LARGE_BYTES_AT_ONCE = shareBytes({ share: 0.1, least: LARGEST_BYTES, most: 3 * LARGEST_BYTES })
/** A body that waits longer is refused: it could not be received within the time for a request (`REQUEST_TIMEOUT_MS`). */
const WAIT_MS = MINUTE_MS
/** An idle thread ends after this time. */
const IDLE_MS = MINUTE_MS
/** MiB; a body of 64 MiB in wide characters takes about half of it. A body built to need more ends the thread, not the process. */
const MEMORY = { young: 32, old: 768 }

export class LargeBodies {
  /** For bodies that are received: each is held once, until it is read. */
  readonly #held: MemoryShares
  readonly #memory: Pick<LargeMemory, 'during'>
  readonly #pool = new ThreadPool<LargeBody, ReadLarge>({ file: null, idleMs: IDLE_MS, memory: MEMORY })

  /**
   * @param memory of the process, for reading a body
   * @param total bytes of bodies at a time
   */
  constructor(clock: Pick<Clock, 'after'>, memory: Pick<LargeMemory, 'during'>, total = LARGE_BYTES_AT_ONCE) {
    this.#memory = memory
    // A client that sends slowly holds its bytes for two minutes: it leaves the rest to others, where there is more than one body has.
    this.#held = new MemoryShares(clock, total, 1, { each: LARGEST_BYTES, waitMs: WAIT_MS })
  }

  /**
   * Waits until this much memory is free.
   * @param owner whose share it is
   * @returns a function that releases it
   * @throws ProductError service_unavailable when that takes more than a minute
   */
  reserve(bytes: number, owner: string): Promise<() => void> {
    return this.#held.acquire(bytes, owner)
  }

  /**
   * Reads a body in the thread; its buffers are transferred.
   * @param filename module the thread runs: see Route.reader
   * @param owner whose share of the memory it takes
   * @throws ProductError why the body is rejected; service_unavailable when the thread failed
   */
  async read(filename: string, body: LargeBody, owner: string): Promise<{ value: object; digest: Uint8Array | null }> {
    const bytes = body.pieces.reduce((sum, { length }) => sum + length, 0)
    return this.#memory.during(bytes, owner, () => this.#read(filename, body))
  }

  async #read(filename: string, body: LargeBody): Promise<{ value: object; digest: Uint8Array | null }> {
    const transfer = body.pieces.map(({ buffer }) => buffer)
    const result = await this.#pool.run(body, { file: filename, transfer }).catch((cause: unknown) => {
      throw new ProductError('service_unavailable', 'The body could not be read now. Try again.', { cause })
    })
    if ('refused' in result) throw productError(result.refused)
    return result
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}
