// Which addresses may be connected to now. A host that does not answer costs two connections, whatever the number of messages for it.

import type { Clock } from '../../../base/clock.ts'
import { aborted, Fault } from '../smtp/errors.ts'
import { ownReply } from '../smtp/reply.ts'
import { Backoff, type Failure } from './backoff.ts'

/** Connections being made at a time to an address that has not greeted lately; the others wait for how these end. */
export const PROBES_MAX = 2
/** How long they wait, in ms. Later the message gives its place to others. */
export const PROBE_WAIT_MS = 3000
/** When a message that gave up waiting comes again, in ms. */
export const COME_AGAIN_MS = 15_000
/** An address that has greeted or answered is known to work for so many ms, and so many addresses are known at a time. */
const WORKS_MS = 60_000
const WORKING_MAX = 10_000

/** The address was not connected to; `until` (ms) is when it may be. */
export class NotConnected extends Fault {
  readonly until: number
  /** False while connections are being made for other messages and nothing has failed yet. */
  readonly hasFailed: boolean

  constructor(fault: Fault, until: number, hasFailed: boolean) {
    super(fault.kind, fault.stage, fault.reply, fault.cause)
    this.until = until
    this.hasFailed = hasFailed
  }
}

interface Probes {
  count: number
  /** When one of them last began or ended, ms. */
  since: number
  waiting: Set<() => void>
}

export class HostGate {
  readonly #clock: Clock
  readonly #backoff: Backoff
  /** Until when (ms) an address is known to work. */
  readonly #working = new Map<string, number>()
  /** By address, while there are any. */
  readonly #probes = new Map<string, Probes>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#backoff = new Backoff(clock)
  }

  /** Why nobody connects to the address now; null where that is not so. */
  failureOf(address: string): Failure | null {
    return this.#backoff.get(address)
  }

  /** Lets the address be tried before its time. */
  lift(address: string): void {
    this.#backoff.lift(address)
  }

  /** Connects when it may. @throws Fault */
  async connect<T>(address: string, signal: AbortSignal, open: () => Promise<T>): Promise<T> {
    while (!this.#mayConnect(address)) await this.#nextEnd(this.#probes.get(address)!, signal)
    const probes = this.#begin(address)
    try {
      const opened = await open()
      this.noteAnswer(address)
      return opened
    } catch (error) {
      if (error instanceof Fault) this.#noteFailure(address, error)
      throw error
    } finally {
      this.#end(address, probes)
    }
  }

  /** The host has answered as it should. */
  noteAnswer(address: string): void {
    this.#backoff.succeed(address)
    this.#working.delete(address)
    this.#working.set(address, this.#clock.now() + WORKS_MS)
    if (this.#working.size > WORKING_MAX) this.#working.delete(this.#working.keys().next().value!)
  }

  /** The host left a message without an answer. */
  noteSilence(address: string, fault: Fault): void {
    this.#working.delete(address)
    this.#backoff.fail(address, fault)
  }

  #noteFailure(address: string, fault: Fault): void {
    const { kind, reply } = fault
    // What a host refuses for good it refuses quickly, and each message is to hear it.
    const isFinal = (reply.smtpCode ?? 0) >= 500 || reply.enhancedCode?.startsWith('5')
    // A host that works has had enough connections for the moment.
    const isCrowded = this.#works(address) && (kind === 'refused' || kind === 'lost')
    if (kind !== 'aborted' && !isFinal && !isCrowded) this.noteSilence(address, fault)
  }

  /** @throws NotConnected where it is not to be waited for */
  #mayConnect(address: string): boolean {
    const failure = this.#backoff.get(address)
    if (failure !== null) throw new NotConnected(failure.fault, failure.until, true)
    const probes = this.#probes.get(address)
    if (this.#works(address) || probes === undefined || probes.count < PROBES_MAX) return true
    const now = this.#clock.now()
    if (now < probes.since + PROBE_WAIT_MS) return false
    const reply = ownReply(`${address} has not answered to earlier connections yet.`)
    throw new NotConnected(new Fault('timeout', 'connect', reply), now + COME_AGAIN_MS, false)
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
    for (const wake of probes.waiting) wake()
  }

  /** Waits until a probe has ended, or takes too long. @throws Fault */
  async #nextEnd(probes: Probes, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const wake = () => resolve(null)
    const timer = this.#clock.after(probes.since + PROBE_WAIT_MS - this.#clock.now(), wake)
    signal.addEventListener('abort', wake, { once: true })
    probes.waiting.add(wake)
    if (!signal.aborted) await promise
    probes.waiting.delete(wake)
    signal.removeEventListener('abort', wake)
    timer.cancel()
    if (signal.aborted) throw aborted('connect')
  }
}
