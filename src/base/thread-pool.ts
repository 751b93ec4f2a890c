// A pool of worker threads for CPU-bound work: threads start with the first task and end when idle.

import type { Worker } from 'node:worker_threads'
import { move, Piscina, transferableSymbol, valueSymbol } from 'piscina'

/** How a pool runs its threads. */
export interface ThreadPoolOptions {
  /** The file a thread runs; null when each task names its own. */
  file: URL | null
  /** The exported function that is the task; the default export when omitted. */
  task?: string
  /** Most threads at a time; 1 when omitted. A thread takes some 40 MB. */
  threads?: number
  /** Tasks one thread runs concurrently; 1 when omitted. */
  tasksPerThread?: number
  /** Tasks that may wait; unlimited when omitted. */
  queueMax?: number
  /** An idle thread ends after this time, ms. */
  idleMs: number
  /** Heap of a thread, MiB: what needs more ends its thread and not the process. A small young generation limits garbage. */
  memory?: { young: number; old: number }
  workerData?: unknown
}

/** How one task is run. */
export interface TaskOptions {
  /** Buffers that are handed to the thread instead of copied; they are unusable afterwards. */
  transfer?: readonly ArrayBufferLike[]
  /** Ends the thread when it is aborted, and rejects the task. */
  signal?: AbortSignal
  /** Path of the file to run instead of that of the pool. */
  file?: string
  /** The exported function to run instead of that of the pool. */
  task?: string
}

export class ThreadPool<Task, Result> {
  readonly #pool: Piscina
  /** Threads that have not ended. Piscina forgets one as soon as it begins to end it: idle, or with an aborted task. */
  readonly #running = new Map<Worker, Promise<void>>()
  #isClosed = false

  constructor({
    file,
    task,
    threads = 1,
    tasksPerThread = 1,
    queueMax,
    idleMs,
    memory,
    workerData,
  }: ThreadPoolOptions) {
    this.#pool = new Piscina({
      ...(file !== null && { filename: file.href }),
      ...(task !== undefined && { name: task }),
      minThreads: 0,
      maxThreads: threads,
      concurrentTasksPerWorker: tasksPerThread,
      ...(queueMax !== undefined && { maxQueue: queueMax }),
      idleTimeout: idleMs,
      ...(memory && {
        resourceLimits: { maxYoungGenerationSizeMb: memory.young, maxOldGenerationSizeMb: memory.old },
      }),
      workerData,
      recordTiming: false,
    })
    // The pool replaces an idle thread that dies; a busy one rejects its tasks.
    this.#pool.on('error', () => {})
    this.#pool.on('workerCreate', () => this.#noteThreads())
  }

  /** @throws Error what the task throws; also when its thread dies, the queue is full, the signal is aborted or the pool is closed */
  async run<R extends Result>(work: Task, { transfer, signal, file, task }: TaskOptions = {}): Promise<R> {
    // A destroyed pool would start new threads.
    if (this.#isClosed) throw new Error('The pool is closed.')
    return this.#pool.run(work, {
      ...(transfer && { transferList: transfer as never }),
      ...(signal && { signal }),
      ...(file !== undefined && { filename: file }),
      ...(task !== undefined && { name: task }),
    })
  }

  /** Ends the threads and rejects their tasks; new tasks start new threads. */
  async endThreads(): Promise<void> {
    await Promise.all(this.#pool.threads.map((thread) => thread.terminate()))
  }

  /** Waits for the tasks, then ends the threads. */
  async finish(): Promise<void> {
    this.#isClosed = true
    await this.#pool.close()
    await this.#ended()
  }

  /** Ends the threads; tasks in progress are rejected. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.destroy()
    await this.#ended()
  }

  #noteThreads(): void {
    for (const thread of this.#pool.threads) {
      if (this.#running.has(thread)) continue
      const exit = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
      this.#running.set(
        thread,
        exit.finally(() => this.#running.delete(thread)),
      )
    }
  }

  /** Until then a thread may have files open. */
  async #ended(): Promise<void> {
    await Promise.all(this.#running.values())
  }
}

/** In a thread: returns a value whose buffers are handed over instead of copied. */
export function transferred<T>(value: T, buffers: Iterable<ArrayBufferLike>): T {
  const moved = { [transferableSymbol]: [...new Set(buffers)], [valueSymbol]: value }
  return move(moved as never) as unknown as T
}
