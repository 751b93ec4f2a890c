// Calls between two threads: the calls and answers of one turn of the event loop share a message, and so a wake-up of the other thread.

import type { MessagePort, Transferable, Worker } from 'node:worker_threads'

/** What one thread may call in another, by name. A promise is awaited before the answer is sent. */
export type ThreadCalls = Record<string, (...given: never[]) => unknown>

/** The answer of a handler, with buffers in it that are handed over instead of copied. */
export class Moved<T> {
  readonly value: T
  readonly buffers: readonly ArrayBufferLike[]

  constructor(value: T, buffers: readonly ArrayBufferLike[]) {
    this.value = value
    this.buffers = buffers
  }
}

/** What a call resolves to. */
type Answered<F extends ThreadCalls[string]> =
  Awaited<ReturnType<F>> extends Moved<infer T> ? T : Awaited<ReturnType<F>>

interface Call {
  name: string
  given: unknown[]
  /** Null when no answer is expected. */
  id: number | null
}

interface Answer {
  id: number
  value?: unknown
  error?: SentError
}

/** A clone of an error has none of its own members. */
interface SentError {
  name: string
  message: string
  stack: string | undefined
  code: unknown
  errcode: unknown
}

interface Batch {
  calls: Call[]
  answers: Answer[]
}

interface PendingCall {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** One end of the calls; `Far` are those that the other thread answers. */
export class ThreadLink<Far extends ThreadCalls> {
  readonly #port: Worker | MessagePort
  readonly #handlers: ThreadCalls
  readonly #failed: (error: unknown) => void
  readonly #pending = new Map<number, PendingCall>()
  #batch: Batch = { calls: [], answers: [] }
  #transfer: Transferable[] = []
  #isScheduled = false
  #lastId = 0
  #ended: Error | null = null

  /**
   * @param port a worker, or in a worker the port of its parent
   * @param handlers what the other thread may call
   * @param failed called with the error of a call that expects no answer
   */
  constructor(port: Worker | MessagePort, handlers: ThreadCalls, failed: (error: unknown) => void) {
    this.#port = port
    this.#handlers = handlers
    this.#failed = failed
    port.on('message', (batch: Batch) => this.#read(batch))
  }

  /**
   * Calls a function of the other thread.
   * @param transfer buffers in `given` that are handed over; they are unusable afterwards
   * @throws Error what it throws, with its `code` and `errcode`; also when the other thread has ended
   */
  call<N extends keyof Far & string>(
    name: N,
    given: Parameters<Far[N]>,
    transfer: readonly ArrayBufferLike[] = [],
  ): Promise<Answered<Far[N]>> {
    if (this.#ended !== null) return Promise.reject(this.#ended)
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject })
      this.#add({ name, given, id }, transfer)
    })
  }

  /** Calls a function of the other thread without waiting for it. */
  post<N extends keyof Far & string>(name: N, given: Parameters<Far[N]>): void {
    if (this.#ended === null) this.#add({ name, given, id: null }, [])
  }

  /** As `post`, at once and in a message of its own. @throws Error when a value cannot be handed over */
  postNow<N extends keyof Far & string>(name: N, given: Parameters<Far[N]>, transfer: Transferable[]): void {
    this.#flush()
    this.#port.postMessage({ calls: [{ name, given, id: null }], answers: [] } satisfies Batch, transfer)
  }

  /** The other thread has ended: rejects all calls, those to come included. */
  end(error: Error): void {
    this.#ended = error
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }

  #add(call: Call, transfer: readonly ArrayBufferLike[]): void {
    this.#batch.calls.push(call)
    this.#schedule(transfer)
  }

  #schedule(transfer: readonly ArrayBufferLike[]): void {
    this.#transfer.push(...(transfer as readonly ArrayBuffer[]))
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#isScheduled = false
    const batch = this.#batch
    if (batch.calls.length + batch.answers.length === 0) return
    const transfer = [...new Set(this.#transfer)]
    this.#batch = { calls: [], answers: [] }
    this.#transfer = []
    try {
      this.#port.postMessage(batch, transfer)
    } catch (error) {
      // A value that cannot be cloned: its callers must not wait for ever.
      this.#failed(error)
      for (const { id } of batch.calls) if (id !== null) this.#settle({ id, error: sent(error) })
      const answers = batch.answers.map(({ id }) => ({ id, error: sent(error) }))
      if (answers.length > 0) this.#port.postMessage({ calls: [], answers } satisfies Batch, [])
    }
  }

  #settle({ id, value, error }: Answer): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (error === undefined) pending?.resolve(value)
    else pending?.reject(rebuilt(error))
  }

  #read({ calls, answers }: Batch): void {
    for (const answer of answers) this.#settle(answer)
    for (const call of calls) void this.#run(call)
  }

  async #run({ name, given, id }: Call): Promise<void> {
    try {
      const value = await this.#handlers[name]!(...(given as never[]))
      if (id !== null) this.#answer(value instanceof Moved ? { id, value: value.value } : { id, value }, value)
    } catch (error) {
      if (id === null) this.#failed(error)
      else this.#answer({ id, error: sent(error) })
    }
  }

  #answer(answer: Answer, value?: unknown): void {
    if (this.#ended !== null) return
    this.#batch.answers.push(answer)
    this.#schedule(value instanceof Moved ? value.buffers : [])
  }
}

function sent(error: unknown): SentError {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return { name, message, stack, code, errcode }
}

function rebuilt({ name, message, stack, code, errcode }: SentError): Error {
  const error = Object.assign(new Error(message), { name, stack })
  return Object.assign(error, code !== undefined && { code }, errcode !== undefined && { errcode })
}
