// A bounded connection pool for one server; idle connections stay open briefly for the next message.

import type { Clock, Timer } from '../../../base/clock.ts'
import type { Connection } from './connection.ts'
import { aborted, SmtpError } from './errors.ts'

/** Idle timeout in ms of a connection; servers wait longer (RFC 5321 §4.5.3.2.7 recommends five minutes). */
export const IDLE_MS = 20_000
/** Maximum number of messages per connection: a new one may reach another host of the server. Stricter servers refuse earlier. */
export const MAILS_MAX = 500
/** How long in ms a server's refusal of further connections lowers the limit. */
export const CROWDED_MS = 300_000

interface PoolDeps {
  clock: Clock
  /** Maximum number of connections, busy and idle. */
  most: number
  /** @throws Fault */
  open(signal: AbortSignal): Promise<Connection>
  /** Whether an idle connection may be kept; always, if absent. */
  mayKeep?(): boolean
  /** Called when no connection is left and no caller waits for one. */
  onEmpty?(): void
}

export class Pool {
  readonly #deps: PoolDeps
  readonly #idle = new Map<Connection, Timer>()
  readonly #waiting: (() => void)[] = []
  /** Number of connections, including those being opened. */
  #count = 0
  #most: number
  #crowdedUntil = 0
  #closed = false

  constructor(deps: PoolDeps) {
    this.#deps = deps
    this.#most = deps.most
  }

  /** Takes a connection for exclusive use; the caller gives it back or closes it. @throws Fault */
  async take(signal: AbortSignal): Promise<Connection> {
    for (let isFirst = true; ; isFirst = false) {
      const idle = [...this.#idle.keys()].at(-1)
      if (idle !== undefined) return this.#wakeUp(idle)
      const opened = this.#hasRoom() ? await this.#open(signal) : null
      if (opened !== null) return opened
      // A connection may have been returned while the open failed.
      if (this.#idle.size === 0 && !this.#hasRoom()) await this.#turn(signal, isFirst)
    }
  }

  /** Returns a connection to the pool; closes it if it is at its message limit or not needed. */
  give(connection: Connection): void {
    if (!connection.wire.isOpen) return
    const { clock, mayKeep } = this.#deps
    const isKept = this.#waiting.length > 0 || (!this.#closed && mayKeep?.() !== false)
    if (!isKept || connection.mails >= MAILS_MAX) return void connection.wire.quit()
    const timer = clock.after(IDLE_MS, () => void connection.wire.quit())
    this.#idle.set(connection, timer)
    this.#waiting.shift()?.()
  }

  /** Closes the idle connections: if the server closed one, it may have closed all. */
  async dropIdle(): Promise<void> {
    await Promise.all([...this.#idle.keys()].map((connection) => connection.wire.quit()))
  }

  /** Stops keeping connections; messages in progress and waiting ones still finish. */
  close(): Promise<void> {
    this.#closed = true
    return this.dropIdle()
  }

  #hasRoom(): boolean {
    if (this.#deps.clock.now() >= this.#crowdedUntil) this.#most = this.#deps.most
    return this.#count < this.#most
  }

  /** @returns null when the server refuses more connections than are open */
  async #open(signal: AbortSignal): Promise<Connection | null> {
    this.#count++
    try {
      const connection = await this.#deps.open(signal)
      const { wire } = connection
      if (wire.fault !== null) throw wire.fault
      wire.onOver(() => this.#forget(connection))
      return connection
    } catch (error) {
      this.#gone()
      if (!(error instanceof SmtpError) || !isCrowded(error) || this.#count === 0) throw error
      this.#most = this.#count
      this.#crowdedUntil = this.#deps.clock.now() + CROWDED_MS
      return null
    }
  }

  #wakeUp(connection: Connection): Connection {
    this.#idle.get(connection)?.cancel()
    this.#idle.delete(connection)
    return connection
  }

  #forget(connection: Connection): void {
    this.#wakeUp(connection)
    this.#gone()
  }

  #gone(): void {
    this.#count--
    this.#waiting.shift()?.()
    if (this.#count === 0 && this.#waiting.length === 0) this.#deps.onEmpty?.()
  }

  /** Waits until a connection is returned. A caller that waited in vain goes to the head of the queue. */
  #turn(signal: AbortSignal, isFirst: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        const at = this.#waiting.indexOf(go)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(aborted('connect'))
      }
      const go = () => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      if (signal.aborted) return abort()
      signal.addEventListener('abort', abort, { once: true })
      if (isFirst) this.#waiting.push(go)
      else this.#waiting.unshift(go)
    })
  }
}

/** A temporary refusal up to authentication: with other connections open, the likely cause is the connection limit. */
function isCrowded({ kind, stage, reply }: SmtpError): boolean {
  if (stage !== 'connect' && stage !== 'greeting' && stage !== 'auth') return false
  return kind === 'unreachable' || kind === 'lost' || (kind === 'refused' && (reply.smtpCode ?? 500) < 500)
}
