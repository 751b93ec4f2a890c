// Pool of worker threads that inspect and parse messages, to keep this work off the listeners' thread.

import { stat } from 'node:fs/promises'
import { type Clock, systemClock } from '../base/clock.ts'
import { entryFile } from '../base/entry.ts'
import { ProductError } from '../base/errors.ts'
import { Semaphore } from '../base/semaphore.ts'
import { storageError } from '../base/storage-error.ts'
import { ThreadPool } from '../base/thread-pool.ts'
import type { InspectedMessage, MessageSource, ThreadSettings, ViewRequest } from './inspect-thread.ts'
import type { Inspection, InspectionRequest, MessageReading } from './inspection.ts'

/** Concurrent messages per thread: most of the time they wait for DNS. */
const TASKS_PER_THREAD = 16
/** Messages from this size on share LARGE_BYTES_AT_ONCE. */
const LARGE_FROM_BYTES = 1024 * 1024
/** Bytes of messages that are read in one task. */
const GROUP_BYTES = 256 * 1024
/** Bytes of large messages in progress at a time; each takes about four times its size in memory. */
const LARGE_BYTES_AT_ONCE = 64 * 1024 * 1024
/** An idle thread is stopped after this time. */
const IDLE_MS = 600_000
/** A message that takes longer blocks its thread: authentication itself has a timeout of 10 s. */
const TIMEOUT_MS = 120_000

/** MiB, far above what a message within limits needs. */
const MEMORY = { young: 16, old: 512 }

export interface InspectorOptions {
  threads: number
  /** As DNS_SERVERS; empty: the system's servers. */
  dnsServers: string[]
  clock?: Clock
}

export class Inspector {
  readonly #pool: ThreadPool<object, unknown>
  readonly #clock: Clock
  readonly #large = new Semaphore(LARGE_BYTES_AT_ONCE)
  readonly #inFlight = new Set<Promise<unknown>>()
  #closed = false

  constructor(options: InspectorOptions) {
    this.#clock = options.clock ?? systemClock
    this.#pool = new ThreadPool({
      file: entryFile(new URL('./inspect-thread.ts', import.meta.url)),
      task: 'inspectTask',
      threads: options.threads,
      tasksPerThread: TASKS_PER_THREAD,
      idleMs: IDLE_MS,
      memory: MEMORY,
      workerData: { dnsServers: options.dnsServers } satisfies ThreadSettings,
    })
  }

  /**
   * Inspects one message. The bytes are copied to the thread; a file is read there.
   * @throws ProductError service_unavailable when the thread dies, the file cannot be read or the pool is closed; the caller
   *   may retry
   */
  async inspect(source: MessageSource, arrival: InspectionRequest): Promise<Inspection> {
    const measure = async () => ('file' in source ? (await stat(source.file)).size : source.bytes.length)
    return this.#run(measure, async () => {
      if ('file' in source) return this.#pool.run<Inspection>({ source, arrival })
      // A copy: a slice of a larger buffer would transfer the whole buffer.
      const bytes = new Uint8Array(source.bytes)
      return this.#pool.run<Inspection>({ source: { bytes }, arrival }, { transfer: [bytes.buffer] })
    })
  }

  /**
   * Reads a message that is stored as it is.
   * @param sizeBytes size of the message
   * @param load loads its bytes, called once memory is available; nothing else may use them afterwards
   * @throws ProductError service_unavailable as `inspect`
   */
  async read(sizeBytes: number, load: () => Promise<Uint8Array>): Promise<MessageReading> {
    return this.#run(
      async () => sizeBytes,
      async () => {
        const bytes = ownMemory(await load())
        return this.#pool.run<MessageReading>({ bytes }, { task: 'readTask', transfer: [bytes.buffer] })
      },
    )
  }

  /**
   * Reads several messages with few hand-overs, which take about as long as reading a short message.
   * @param messages their bytes, which are copied to the thread
   * @throws ProductError service_unavailable as `inspect`
   */
  async readAll(messages: readonly Uint8Array[]): Promise<MessageReading[]> {
    const readings = await Promise.all([...groupsOf(messages)].map((group) => this.#readGroup(group)))
    return readings.flat()
  }

  #readGroup(group: readonly Uint8Array[]): Promise<MessageReading[]> {
    const sizeBytes = group.reduce((sum, { length }) => sum + length, 0)
    return this.#run(
      async () => sizeBytes,
      async () => {
        const bytes = new Uint8Array(sizeBytes)
        let at = 0
        for (const message of group) {
          bytes.set(message, at)
          at += message.length
        }
        const lengths = group.map(({ length }) => length)
        return this.#pool.run<MessageReading[]>({ bytes, lengths }, { task: 'readAllTask', transfer: [bytes.buffer] })
      },
    )
  }

  /** The same for a message that is displayed and not stored. */
  async view(sizeBytes: number, load: () => Promise<Uint8Array>, request: ViewRequest): Promise<InspectedMessage> {
    return this.#run(
      async () => sizeBytes,
      async () => {
        const bytes = ownMemory(await load())
        return this.#pool.run<InspectedMessage>({ ...request, bytes }, { task: 'viewTask', transfer: [bytes.buffer] })
      },
    )
  }

  /** Waits for tasks in progress, then stops the threads. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#inFlight)
    await this.#pool.close()
  }

  /** Runs the work of one message within the memory limit and timeout. */
  async #run<T>(measure: () => Promise<number>, work: () => Promise<T>): Promise<T> {
    const call = this.#runWithinLimits(measure, work)
    this.#inFlight.add(call)
    try {
      return await call
    } catch (cause) {
      // Damaged content and a full disk have sentences of their own.
      if (cause instanceof ProductError) throw cause
      const sentence = 'The message could not be inspected. Try again.'
      throw storageError(cause) ?? new ProductError('service_unavailable', sentence, { cause })
    } finally {
      this.#inFlight.delete(call)
    }
  }

  async #runWithinLimits<T>(measure: () => Promise<number>, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new Error('The inspector is closed.')
    const sizeBytes = await measure()
    const release = sizeBytes < LARGE_FROM_BYTES ? () => {} : await this.#large.acquire(sizeBytes)
    // Which thread hangs is unknown, so that all are ended.
    const timer = this.#clock.after(TIMEOUT_MS, () => void this.#pool.endThreads())
    try {
      return await work()
    } finally {
      timer.cancel()
      release()
    }
  }
}

/** Bytes with memory of their own, which can be handed to a thread: a slice of a larger buffer would take the whole buffer with it. */
function ownMemory(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

/** Messages in groups below {@link GROUP_BYTES}; a larger one is alone. */
function* groupsOf(messages: readonly Uint8Array[]): Generator<Uint8Array[]> {
  let group: Uint8Array[] = []
  let bytes = 0
  for (const message of messages) {
    if (group.length > 0 && bytes + message.length > GROUP_BYTES) {
      yield group
      group = []
      bytes = 0
    }
    group.push(message)
    bytes += message.length
  }
  if (group.length > 0) yield group
}
