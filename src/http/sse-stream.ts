// A stream of Server-Sent Events: frames with a bounded buffer for slow clients, pings, and an end (docs/design/mailbox.md §12).

import { Readable } from 'node:stream'
import type { Timer } from '../base/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import type { Context } from '../context.ts'

/** Why the server ends a stream. */
export type EndReason = 'max_duration' | 'credential_revoked' | 'mailbox_suspended' | 'shutdown'

/** Bounds and default of `ping`, seconds. */
export const PING = { least: 15, most: 300, usual: 30 }
/** Reconnection time of the client, ms. */
const RETRY_MS = 5_000
/** Longest duration of a stream, and interval of the check of its credential, ms. */
export const LONGEST_MS = HOUR_MS
export const CHECK_EVERY_MS = 30 * 1000
/** A client that reads nothing for this long is disconnected, ms. */
export const STUCK_MS = MINUTE_MS
/** Bytes buffered for a client. What does not fit is reported once when the client reads again. */
export const STREAM_BUFFER_MAX = 65_536

/** Seconds between pings, from the parameter of a request. */
export function pingSeconds(asked: number): number {
  return asked === 0 ? PING.usual : Math.min(Math.max(asked, PING.least), PING.most)
}

export abstract class SseStream extends Readable {
  protected readonly app: Context
  readonly #pingSeconds: number
  /** What it is about, for the log. */
  readonly #about: object
  #timers: Timer[] = []
  #ping: Timer | undefined
  /** Runs one task after another, because some frames have to be read from the store first. */
  #turn: Promise<void> = Promise.resolve()
  /** Since when the client has not read, ms; null while it reads. */
  #fullSince: number | null = null
  #isOver = false

  constructor(app: Context, options: { pingSeconds: number; about: object }) {
    super({ highWaterMark: STREAM_BUFFER_MAX })
    this.app = app
    this.#pingSeconds = options.pingSeconds
    this.#about = options.about
  }

  /** Why the stream has to end now; null when it can continue. Called when it begins, and regularly. */
  protected abstract refused(): Promise<EndReason | null>

  /** The client reads again. */
  protected abstract resumed(): void

  /** Releases what the stream holds. Called once or more. */
  protected abstract left(): void

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the client does not read: events are not sent. */
  protected get isFull(): boolean {
    return this.#fullSince !== null
  }

  /** Sends the first frame. @returns false when the stream has ended already */
  protected async start(): Promise<boolean> {
    const refused = await this.refused()
    this.write(`retry: ${RETRY_MS}\n\n`)
    if (refused !== null) this.finish(refused)
    return refused === null
  }

  /** Starts pings, the regular check, and the longest duration. */
  protected watch(): void {
    const { clock } = this.app
    this.#timers = [
      clock.after(LONGEST_MS, () => this.finish('max_duration')),
      clock.every(CHECK_EVERY_MS, () => this.inTurn(() => this.check())),
    ]
    this.#planPing()
  }

  /** Runs something again and again while the stream lasts; called after `watch`. */
  protected repeat(ms: number, work: () => Promise<void>): void {
    if (!this.#isOver) this.#timers.push(this.app.clock.every(ms, () => this.inTurn(work)))
  }

  protected async check(): Promise<void> {
    if (this.#fullSince !== null && this.app.clock.now() - this.#fullSince >= STUCK_MS) {
      this.destroy()
      return
    }
    const refused = await this.refused()
    if (refused !== null) this.finish(refused)
  }

  /** The appliance is shutting down. */
  closing(): void {
    // Unread data would delay the shutdown.
    if (this.readableLength > 0) this.destroy()
    else this.finish('shutdown')
  }

  /** @returns false when the client does not read: the event was not sent */
  protected event(name: string, data: object, id?: string): boolean {
    if (this.#isOver || this.#fullSince !== null) return false
    this.write(`event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`)
    this.#planPing()
    return true
  }

  protected write(frame: string): void {
    if (!this.push(frame)) this.#fullSince = this.app.clock.now()
  }

  protected inTurn(work: () => Promise<void>): void {
    const unlessOver = async () => {
      if (!this.#isOver) await work()
    }
    this.#turn = this.#turn.then(unlessOver).catch((error: unknown) => {
      this.app.log.error({ event: 'api.event_stream_failed', err: error, ...this.#about }, 'Event stream failed')
      this.destroy()
    })
  }

  protected finish(reason: EndReason): void {
    if (this.#isOver) return
    this.push(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`)
    this.end()
  }

  /** Ends the stream without a further event. */
  protected end(): void {
    this.#leave()
    this.push(null)
  }

  override _read(): void {
    this.#fullSince = null
    this.resumed()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leave()
    done(error)
  }

  #planPing(): void {
    const interval = this.#pingSeconds
    this.#ping?.cancel()
    if (this.#isOver || this.#timers.length === 0) return
    this.#ping = this.app.clock.after(interval * 1000, () => {
      if (!this.event('ping', { interval })) this.#planPing()
    })
  }

  #leave(): void {
    this.#isOver = true
    this.left()
    this.#ping?.cancel()
    for (const timer of this.#timers) timer.cancel()
  }
}
