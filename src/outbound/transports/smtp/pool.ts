// A bounded connection pool for one server; idle connections stay open briefly for the next message.

import type { Clock, Timer } from '../../../base/clock.ts'
import { onAbort } from '../../../base/on-abort.ts'
import type { Connection } from './connection.ts'
import { aborted, SmtpError } from './errors.ts'

/** Idle timeout in ms of a connection; servers wait longer (RFC 5321 §4.5.3.2.7 recommends five minutes). */
export const IDLE_MS = 20_000
/** Maximum number of messages per connection: a new one may reach another host of the server. Stricter servers refuse earlier. */
export const MESSAGES_MAX = 500
/** How long in ms messages wait for a connection while none of them ends a message, where `stalled` is given. */
export const STALL_MS = 10_000
/** How long in ms a server's refusal of further connections lowers the limit. */
export const LIMITED_MS = 300_000

interface PoolDeps {
  clock: Clock
  /** Maximum number of connections, busy and idle. */
  most: number
  /** @throws SmtpError */
  open(signal: AbortSignal): Promise<Connection>
  /** Whether an idle connection may be kept; always, if absent. */
  mayKeep?(): boolean
  /** The error for callers that wait while no connection is returned for {@link STALL_MS}; without it they wait on. */
  stalled?(): SmtpError
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
  #limitedUntil = 0
  /** When a connection was returned or ended, or the first caller began to wait. ms */
  #movedAt = 0
  #closed = false

  constructor(deps: PoolDeps) {
    this.#deps = deps
    this.#most = deps.most
  }

  /** Takes a connection for exclusive use; the caller gives it back or closes it. @throws SmtpError */
  async take(signal: AbortSignal): Promise<Connection> {
    for (let isFirst = true; ; isFirst = false) {
      const idle = [...this.#idle.keys()].at(-1)
      if (idle !== undefined) return this.#takeIdle(idle)
      const opened = this.#hasRoom() ? await this.#open(signal) : null
      if (opened !== null) return opened
      // A connection may have been returned while the open failed.
      if (this.#idle.size === 0 && !this.#hasRoom()) await this.#waitForConnection(signal, isFirst)
    }
  }

  /** Returns a connection to the pool; closes it if it is at its message limit or not needed. */
  give(connection: Connection): void {
    this.#movedAt = this.#deps.clock.now()
    if (!connection.channel.isOpen) return
    const { clock, mayKeep } = this.#deps
    const mayStay = this.#waiting.length > 0 || (!this.#closed && mayKeep?.() !== false)
    if (!mayStay || connection.transactions >= MESSAGES_MAX) return void connection.channel.quit()
    const timer = clock.after(IDLE_MS, () => void connection.channel.quit())
    this.#idle.set(connection, timer)
    this.#waiting.shift()?.()
  }

  /** Closes the idle connections: if the server closed one, it may have closed all. */
  async dropIdle(): Promise<void> {
    await Promise.all([...this.#idle.keys()].map((connection) => connection.channel.quit()))
  }

  /** Stops keeping connections; messages in progress and waiting ones still finish. */
  close(): Promise<void> {
    this.#closed = true
    return this.dropIdle()
  }

  #hasRoom(): boolean {
    if (this.#deps.clock.now() >= this.#limitedUntil) this.#most = this.#deps.most
    return this.#count < this.#most
  }

  /** @returns null when the server refuses more connections than are open */
  async #open(signal: AbortSignal): Promise<Connection | null> {
    this.#count++
    try {
      const connection = await this.#deps.open(signal)
      const { channel } = connection
      if (channel.error !== null) throw channel.error
      channel.onEnd(() => this.#forget(connection))
      return connection
    } catch (error) {
      this.#removed()
      if (!(error instanceof SmtpError) || !isConnectionLimit(error) || this.#count === 0) throw error
      this.#most = this.#count
      this.#limitedUntil = this.#deps.clock.now() + LIMITED_MS
      return null
    }
  }

  #takeIdle(connection: Connection): Connection {
    this.#idle.get(connection)?.cancel()
    this.#idle.delete(connection)
    return connection
  }

  #forget(connection: Connection): void {
    this.#takeIdle(connection)
    this.#removed()
  }

  #removed(): void {
    this.#count--
    this.#movedAt = this.#deps.clock.now()
    this.#waiting.shift()?.()
    if (this.#count === 0 && this.#waiting.length === 0) this.#deps.onEmpty?.()
  }

  /** Waits until a connection is returned. A caller that waited in vain goes to the head of the queue. */
  #waitForConnection(signal: AbortSignal, isFirst: boolean): Promise<void> {
    const { clock, stalled } = this.#deps
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined
      let unlisten: (() => void) | undefined
      const leave = () => {
        timer?.cancel()
        unlisten?.()
      }
      const giveUp = (error: SmtpError) => {
        leave()
        const at = this.#waiting.indexOf(go)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(error)
      }
      const abort = () => giveUp(aborted('connect'))
      const go = () => {
        leave()
        resolve()
      }
      const watch = () => {
        const left = this.#movedAt + STALL_MS - clock.now()
        if (left > 0) timer = clock.after(left, watch)
        else giveUp(stalled!())
      }
      if (signal.aborted) return abort()
      unlisten = onAbort(signal, abort)
      if (this.#waiting.length === 0) this.#movedAt = clock.now()
      if (isFirst) this.#waiting.push(go)
      else this.#waiting.unshift(go)
      if (stalled !== undefined) watch()
    })
  }
}

/** A temporary refusal up to authentication: with other connections open, the likely cause is the connection limit. */
function isConnectionLimit({ kind, stage, reply }: SmtpError): boolean {
  if (stage !== 'connect' && stage !== 'greeting' && stage !== 'auth') return false
  return kind === 'unreachable' || kind === 'lost' || (kind === 'refused' && (reply.smtpCode ?? 500) < 500)
}
