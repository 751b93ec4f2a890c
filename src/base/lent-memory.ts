// The memory for large messages as other threads of the process use it: they ask the first thread for turns, which end with them.

import type { MessagePort } from 'node:worker_threads'
import { LARGE_FROM_BYTES, MemoryExhausted, type MemoryShares } from './memory-shares.ts'
import { ThreadLink } from './thread-link.ts'

/** The memory for large messages, in whichever thread it is kept. */
export type LargeMemory = Pick<MemoryShares, 'acquire' | 'during'>

/** In the first thread: the turns of one other thread, by number. */
export class LentMemory {
  readonly #memory: LargeMemory
  readonly #held = new Map<number, () => void>()
  #last = 0
  #isEnded = false

  constructor(memory: LargeMemory) {
    this.#memory = memory
  }

  /**
   * Waits for the memory of a large message.
   * @returns the number to release it by; null when it did not come in time
   */
  async reserve(sizeBytes: number, source: string): Promise<number | null> {
    try {
      const release = await this.#memory.acquire(sizeBytes, source)
      const number = ++this.#last
      this.#held.set(number, release)
      if (this.#isEnded) this.release(number)
      return number
    } catch (error) {
      if (error instanceof MemoryExhausted) return null
      throw error
    }
  }

  release(number: number): void {
    this.#held.get(number)?.()
    this.#held.delete(number)
  }

  /** The thread has ended: what it has not released is released. */
  end(): void {
    this.#isEnded = true
    for (const number of [...this.#held.keys()]) this.release(number)
  }
}

type MemoryCalls = Pick<LentMemory, 'reserve' | 'release'> & Record<string, (...given: never[]) => unknown>

/** In the first thread: answers a {@link FarMemory} at the other end of the port. @returns ends it with its thread */
export function lendMemory(port: MessagePort, memory: LargeMemory, failed: (error: unknown) => void): () => void {
  const lent = new LentMemory(memory)
  const reserve = (sizeBytes: number, source: string) => lent.reserve(sizeBytes, source)
  const release = (number: number) => lent.release(number)
  const link = new ThreadLink(port, { reserve, release }, failed)
  port.unref()
  return () => {
    lent.end()
    link.end(new Error('The thread has ended.'))
    port.close()
  }
}

/** In another thread: the memory of the first one. */
export class FarMemory implements LargeMemory {
  readonly #link: ThreadLink<MemoryCalls>

  constructor(port: MessagePort) {
    this.#link = new ThreadLink<MemoryCalls>(port, {}, () => {})
    port.unref()
  }

  /** See {@link MemoryShares.acquire}. */
  async acquire(sizeBytes: number, source: string): Promise<() => void> {
    if (sizeBytes < LARGE_FROM_BYTES) return () => {}
    const number = await this.#link.call('reserve', [sizeBytes, source])
    if (number === null) throw new MemoryExhausted()
    return () => this.#link.post('release', [number])
  }

  /** See {@link MemoryShares.during}. */
  async during<T>(sizeBytes: number, source: string, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(sizeBytes, source)
    try {
      return await work()
    } finally {
      release()
    }
  }
}
