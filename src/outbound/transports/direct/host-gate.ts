// Decides which addresses may be connected to now. A dead host costs two connections, regardless of the number of its messages.

import type { Clock } from '../../../base/clock.ts'
import { MINUTE_MS } from '../../../base/durations.ts'
import { onAbort } from '../../../base/on-abort.ts'
import { aborted, SmtpError } from '../smtp/errors.ts'
import { ownReply } from '../smtp/reply.ts'
import { Backoff, type Failure } from './backoff.ts'

/** Maximum number of concurrent connects to an address that has not greeted recently; other messages wait for their results. */
export const PROBES_MAX = 2
/** Maximum wait in ms for these results; then the message is requeued. */
export const PROBE_WAIT_MS = 3000
/** Retry delay in ms of a message that stopped waiting. */
export const REQUEUE_MS = 15_000
/** How long in ms an address counts as working after a greeting or an answer, and the maximum number of such entries. */
const WORKS_MS = MINUTE_MS
const WORKING_MAX = 10_000

/** The gate refused to connect to the address; `until` (ms) is the earliest time for an attempt. */
export class NotConnected extends SmtpError {
  readonly until: number
  /** False while other messages are still connecting and nothing has failed yet. */
  readonly hasFailed: boolean

  constructor(error: SmtpError, until: number, hasFailed: boolean) {
    super(error.kind, error.stage, error.reply, error.cause)
    this.until = until
    this.hasFailed = hasFailed
  }
}

interface Probes {
  count: number
  /** When the first of them began or the last one ended, in ms. */
  since: number
  waiting: Set<() => void>
}

export class HostGate {
  readonly #clock: Clock
  readonly #backoff: Backoff
  /** By address: until when (ms) it counts as working. */
  readonly #working = new Map<string, number>()
  /** By address, while probes are running. */
  readonly #probes = new Map<string, Probes>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#backoff = new Backoff(clock)
  }

  /** The failure that blocks the address now; null if it may be connected to. */
  failureOf(address: string): Failure | null {
    return this.#backoff.get(address)
  }

  /** Ends the backoff of the address now. */
  lift(address: string): void {
    this.#backoff.lift(address)
  }

  /** Waits until connecting is allowed, then connects. @throws SmtpError */
  async connect<T>(address: string, signal: AbortSignal, open: () => Promise<T>): Promise<T> {
    while (!this.#mayConnect(address)) await this.#nextEnd(this.#probes.get(address)!, signal)
    const probes = this.#begin(address)
    try {
      const opened = await open()
      // A greeting is no sign of life when another message waited for its reply in vain meanwhile.
      if (this.#backoff.get(address) === null) this.noteAnswer(address)
      return opened
    } catch (error) {
      if (error instanceof SmtpError) this.#noteFailure(address, error)
      throw error
    } finally {
      this.#end(address, probes)
    }
  }

  /** Records a valid answer of the host. */
  noteAnswer(address: string): void {
    this.#backoff.succeed(address)
    this.#working.delete(address)
    this.#working.set(address, this.#clock.now() + WORKS_MS)
    if (this.#working.size > WORKING_MAX) this.#working.delete(this.#working.keys().next().value!)
  }

  /** Records that the host did not answer to a message in time. */
  noteSilence(address: string, error: SmtpError): void {
    this.#working.delete(address)
    this.#backoff.fail(address, error)
  }

  #noteFailure(address: string, error: SmtpError): void {
    const { kind, reply } = error
    // A permanent refusal arrives quickly, and each message must receive it, so there is no backoff.
    const isFinal = (reply.smtpCode ?? 0) >= 500 || reply.enhancedCode?.startsWith('5')
    // A working host that refuses a connection has reached its connection limit.
    const isCrowded = this.#works(address) && (kind === 'refused' || kind === 'lost')
    // A server that does not meet the policy of one domain may serve others.
    if (error.cause === 'tls_policy') return
    if (kind !== 'aborted' && !isFinal && !isCrowded) this.noteSilence(address, error)
  }

  /** @throws NotConnected when waiting is useless */
  #mayConnect(address: string): boolean {
    const failure = this.#backoff.get(address)
    if (failure !== null) throw new NotConnected(failure.error, failure.until, true)
    const probes = this.#probes.get(address)
    if (this.#works(address) || probes === undefined || probes.count < PROBES_MAX) return true
    const now = this.#clock.now()
    if (now < probes.since + PROBE_WAIT_MS) return false
    const reply = ownReply(`${address} has not answered to earlier connections yet.`)
    throw new NotConnected(new SmtpError('timeout', 'connect', reply), now + REQUEUE_MS, false)
  }

  #works(address: string): boolean {
    return this.#clock.now() < (this.#working.get(address) ?? 0)
  }

  #begin(address: string): Probes {
    const now = this.#clock.now()
    const probes = this.#probes.get(address) ?? { count: 0, since: now, waiting: new Set() }
    this.#probes.set(address, probes)
    if (probes.count++ === 0) probes.since = now
    return probes
  }

  #end(address: string, probes: Probes): void {
    probes.since = this.#clock.now()
    if (--probes.count === 0) this.#probes.delete(address)
    for (const resume of probes.waiting) resume()
  }

  /** Waits until a probe ends or times out. @throws SmtpError */
  async #nextEnd(probes: Probes, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const resume = () => resolve(null)
    const timer = this.#clock.after(probes.since + PROBE_WAIT_MS - this.#clock.now(), resume)
    const unlisten = onAbort(signal, resume)
    probes.waiting.add(resume)
    if (!signal.aborted) await promise
    probes.waiting.delete(resume)
    unlisten()
    timer.cancel()
    if (signal.aborted) throw aborted('connect')
  }
}
