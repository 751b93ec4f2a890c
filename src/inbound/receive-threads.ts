// The receive threads: started with the connections they are needed for, restarted when they die, ended when idle.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { MINUTE_MS } from '../base/durations.ts'
import { entryFile } from '../base/entry.ts'
import { LentMemory } from '../base/lent-memory.ts'
import { CLOSING_MS, CUT_MS } from '../base/lifecycle.ts'
import { ThreadLink } from '../base/thread-link.ts'
import type { Context } from '../context.ts'
import type { CurrentCertificate } from '../smtp/protocol.ts'
import type { AcceptedConnection, ConnectionOwner } from './connections.ts'
import type { ReceiveThreadCalls, ReceiveThreadData } from './receive-thread.ts'
import type { SharedChange, SharedState } from './shared-state.ts'
import type { InboundWriter } from './writer.ts'
import { type FirstThreadCalls, writerCalls } from './writer-calls.ts'

/** MiB. A small young generation limits memory held by garbage; what needs more than the old one ends its thread. */
const MEMORY = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 512 }
/** A thread without connections ends after this time. */
const IDLE_MS = 10 * MINUTE_MS
/** A thread that has not answered between this many checks (SWEEP_MS apart) hangs in a message, and is ended. */
const SILENT_CHECKS = 4
/** A thread that dies sooner would die again: connections are refused for that long. */
const STEADY_MS = 1000
/** A thread that has not stopped by then hangs: its sessions are cut after CLOSING_MS. */
const STOP_MS = CLOSING_MS + 2 * CUT_MS
/** Connections of each thread before another one is started. */
const CONNECTIONS_EACH = 8

interface ReceiveThread {
  worker: Worker
  link: ThreadLink<ReceiveThreadCalls>
  startedAt: number
  connections: Set<number>
  idleSince: number
  /** Checks since it was asked for a sign of life that it has not given yet. */
  silentChecks: number
  memory: LentMemory
  ended: Promise<void>
}

export interface ReceiveThreadsDeps {
  app: Context
  writer: InboundWriter
  shared: SharedState
  connections: ConnectionOwner
  certificate: CurrentCertificate
}

export class ReceiveThreads {
  readonly #deps: ReceiveThreadsDeps
  readonly #most: number
  readonly #threads = new Set<ReceiveThread>()
  #started = 0
  #refuseUntil = 0

  constructor(deps: ReceiveThreadsDeps) {
    this.#deps = deps
    this.#most = deps.app.config.RECEIVE_THREADS
    deps.certificate.onChange((pair) => {
      for (const { link } of this.#threads) link.post('renewTls', [pair])
    })
  }

  /** Threads that run now. */
  get size(): number {
    return this.#threads.size
  }

  /**
   * Hands a connection to the thread with the fewest.
   * @returns false when no thread can be started at the moment
   * @throws Error when the socket cannot be handed over: it was closed
   */
  connect({ id, socket, source }: AcceptedConnection): boolean {
    const thread = this.#choose()
    if (thread === null) return false
    thread.link.postNow('connect', [{ id, socket, source }], [socket as never])
    thread.connections.add(id)
    return true
  }

  /** A connection has ended. */
  closed(id: number): void {
    for (const thread of this.#threads) {
      if (thread.connections.delete(id)) thread.idleSince = this.#deps.app.clock.now()
    }
  }

  /** Ends threads that are idle or hang. */
  check(): void {
    const now = this.#deps.app.clock.now()
    for (const thread of this.#threads) {
      const isIdle = thread.connections.size === 0
      if (isIdle && now - thread.idleSince >= IDLE_MS) void this.#end(thread)
      else if (thread.silentChecks >= SILENT_CHECKS) this.#kill(thread)
      else if (!isIdle || thread.silentChecks > 0) this.#ping(thread)
    }
  }

  /** Ends the sessions in order, and then the threads. */
  async stop(): Promise<void> {
    await Promise.all([...this.#threads].map((thread) => this.#end(thread)))
  }

  #choose(): ReceiveThread | null {
    const [least] = [...this.#threads].sort((a, b) => a.connections.size - b.connections.size)
    const isEnough =
      least !== undefined && (least.connections.size < CONNECTIONS_EACH || this.#threads.size >= this.#most)
    if (isEnough) return least
    if (this.#deps.app.clock.now() < this.#refuseUntil) return least ?? null
    return this.#start()
  }

  #start(): ReceiveThread {
    const { app, shared, certificate } = this.#deps
    const spoolFolder = join(app.folder.spool, String(++this.#started))
    const workerData: ReceiveThreadData = {
      config: app.config,
      secret: app.folder.secret,
      tls: certificate.pair,
      mailFile: app.db.file,
      spoolFolder,
      share: 1 / this.#most,
      shared: shared.snapshot,
    }
    const file = entryFile(new URL('./receive-thread.ts', import.meta.url))
    const worker = new Worker(file, { workerData, resourceLimits: MEMORY, name: 'receive' })
    const ended = Promise.withResolvers<void>()
    const now = app.clock.now()
    const calls = this.#calls(() => thread)
    const thread: ReceiveThread = {
      worker,
      link: new ThreadLink(worker, calls, (error) =>
        app.log.error({ event: 'smtp.thread_call_failed', err: error }, 'Call of a receive thread failed'),
      ),
      startedAt: now,
      connections: new Set(),
      idleSince: now,
      silentChecks: 0,
      memory: new LentMemory(this.#deps.app.memory),
      ended: ended.promise,
    }
    worker.on('error', (error) => app.log.error({ event: 'smtp.thread_died', err: error }, 'Receive thread died'))
    worker.once('exit', () => {
      this.#remove(thread)
      rm(spoolFolder, { recursive: true, force: true }).then(ended.resolve, ended.resolve)
    })
    this.#threads.add(thread)
    return thread
  }

  /** Its connections are closed with it. What it has handed over is written. */
  #remove(thread: ReceiveThread): void {
    const { app, connections } = this.#deps
    thread.link.end(new Error('The receive thread has ended.'))
    for (const id of thread.connections) connections.closed(id)
    thread.memory.end()
    if (!this.#threads.delete(thread)) return
    const now = app.clock.now()
    if (now - thread.startedAt < STEADY_MS) this.#refuseUntil = now + STEADY_MS
  }

  /** No connection is handed to it from now on. */
  async #end(thread: ReceiveThread): Promise<void> {
    const { clock, log } = this.#deps.app
    this.#threads.delete(thread)
    const late = clock.after(STOP_MS, () => void thread.worker.terminate())
    await thread.link.call('stop', []).catch((error: unknown) => {
      log.error({ event: 'smtp.thread_stop_failed', err: error }, 'Receive thread did not stop cleanly')
    })
    late.cancel()
    await thread.worker.terminate()
    await thread.ended
  }

  #ping(thread: ReceiveThread): void {
    if (thread.silentChecks++ > 0) return
    const answered = () => {
      thread.silentChecks = 0
    }
    thread.link.call('ping', []).then(answered, () => {})
  }

  #kill(thread: ReceiveThread): void {
    this.#deps.app.log.error({ event: 'smtp.thread_hangs' }, 'Receive thread does not answer and is ended')
    this.#threads.delete(thread)
    void thread.worker.terminate()
  }

  /** What a thread may call. */
  #calls(thread: () => ReceiveThread): FirstThreadCalls {
    const { writer, connections } = this.#deps
    const calls = writerCalls(writer)
    return {
      ...calls,
      deliver: async (message) => {
        const outcome = await calls.deliver(message)
        // Its own thread counts it when it gets the answer.
        const { decision, peer } = message
        if (outcome === 'stored' && !decision.junk) this.#share({ kind: 'accepted', address: peer.address }, thread())
        return outcome
      },
      share: (change) => this.#share(change, thread()),
      reserve: (sizeBytes, source) => thread().memory.reserve(sizeBytes, source),
      release: (reservation) => thread().memory.release(reservation),
      admit: (id, address) => connections.admit(id, address),
      closed: (id) => connections.closed(id),
    }
  }

  /** Applies what one thread has seen here, and in all other threads. */
  #share(change: SharedChange, from: ReceiveThread): void {
    this.#deps.shared.apply(change)
    for (const thread of this.#threads) if (thread !== from) thread.link.post('share', [change])
  }
}
