// Connections to one server: so many at a time, kept for a while for the next mail.

import type { Clock, Timer } from '../../../base/clock.ts'
import type { Connection } from './connection.ts'
import { aborted, Fault } from './errors.ts'

/** A connection without mail is closed after so many ms; servers wait at least as long (RFC 5321 4.5.3.2.7 asks for minutes). */
export const IDLE_MS = 20_000
/** Mails of one connection: a new one may meet another machine of theirs. Servers that want fewer say so. */
export const MAILS_MAX = 500
/** How long (ms) a server that wanted no more connections is taken at its word. */
export const CROWDED_MS = 300_000

interface PoolParts {
  clock: Clock
  /** Most connections at a time, in use or not. */
  most: number
  /** @throws Fault */
  open(signal: AbortSignal): Promise<Connection>
  /** Whether a connection that nobody uses may be kept; always unless given. */
  mayKeep?(): boolean
  /** Told when no connection is left and nobody waits for one. */
  onEmpty?(): void
}

export class Pool {
  readonly #parts: PoolParts
  readonly #idle = new Map<Connection, Timer>()
  readonly #waiting: (() => void)[] = []
  /** Connections, those being made included. */
  #count = 0
  #most: number
  #crowdedUntil = 0
  #closed = false

  constructor(parts: PoolParts) {
    this.#parts = parts
    this.#most = parts.most
  }

  /** One for the caller alone, who gives it back or ends it. @throws Fault */
  async take(signal: AbortSignal): Promise<Connection> {
    for (let isFirst = true; ; isFirst = false) {
      const idle = [...this.#idle.keys()].at(-1)
      if (idle !== undefined) return this.#wakeUp(idle)
      const opened = this.#hasRoom() ? await this.#open(signal) : null
      if (opened !== null) return opened
      // One may have come back while another was refused.
      if (this.#idle.size === 0 && !this.#hasRoom()) await this.#turn(signal, isFirst)
    }
  }

  /** Takes a connection back; one that is worn out or not wanted any more is closed. */
  give(connection: Connection): void {
    if (!connection.wire.isOpen) return
    const { clock, mayKeep } = this.#parts
    const isKept = this.#waiting.length > 0 || (!this.#closed && mayKeep?.() !== false)
    if (!isKept || connection.mails >= MAILS_MAX) return void connection.wire.quit()
    const timer = clock.after(IDLE_MS, () => void connection.wire.quit())
    this.#idle.set(connection, timer)
    this.#waiting.shift()?.()
  }

  /** Closes the connections nobody uses: when the server ended one of them it may have ended them all. */
  async dropIdle(): Promise<void> {
    await Promise.all([...this.#idle.keys()].map((connection) => connection.wire.quit()))
  }

  /** Keeps none from now on; mails under way and waiting go on. */
  close(): Promise<void> {
    this.#closed = true
    return this.dropIdle()
  }

  #hasRoom(): boolean {
    if (this.#parts.clock.now() >= this.#crowdedUntil) this.#most = this.#parts.most
    return this.#count < this.#most
  }

  /** @returns null when the server wants no more connections than there are */
  async #open(signal: AbortSignal): Promise<Connection | null> {
    this.#count++
    try {
      const connection = await this.#parts.open(signal)
      const { wire } = connection
      if (wire.fault !== null) throw wire.fault
      wire.onOver(() => this.#forget(connection))
      return connection
    } catch (error) {
      this.#gone()
      if (!(error instanceof Fault) || !isCrowded(error) || this.#count === 0) throw error
      this.#most = this.#count
      this.#crowdedUntil = this.#parts.clock.now() + CROWDED_MS
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
    if (this.#count === 0 && this.#waiting.length === 0) this.#parts.onEmpty?.()
  }

  /** Waits until something was given back. Who waited once and came too late is the first of the next. */
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

/** Turned away for now, before signing in or during it: with other connections open the likeliest reason is their number. */
function isCrowded({ kind, stage, reply }: Fault): boolean {
  if (stage !== 'connect' && stage !== 'greeting' && stage !== 'auth') return false
  return kind === 'unreachable' || kind === 'lost' || (kind === 'refused' && (reply.smtpCode ?? 500) < 500)
}
