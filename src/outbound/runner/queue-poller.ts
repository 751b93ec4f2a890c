// When the runner polls the queue: on `deliver`, when a delivery becomes due, when capacity is free again, and once a second.

import type { Timer } from '../../base/clock.ts'
import type { RunnerDeps } from './deps.ts'

/** Poll interval: the longest delay after a lost notification, in ms. */
const LOOK_EVERY_MS = 1000
/** Minimum time between polls that refill freed capacity, because a poll costs more than a message. ms. */
const REFILL_MS = 15
/** The pause after a poll as a multiple of its duration: polling takes at most a fifth of the time. */
const PAUSES = 4

/** The result of a poll. */
export interface PollResult {
  /** Messages found behind the first page, after deliveries that could not be taken. */
  behind: number
  /** Duration of the queries, in ms. */
  askedMs: number
}

interface Work {
  /** @param isFar also reads the pages behind deliveries that cannot be taken now */
  take(isFar: boolean): Promise<PollResult>
  /** When (ms) the next delivery becomes due; null when none will. */
  next(): Promise<number | null>
}

export class QueuePoller {
  readonly #deps: Pick<RunnerDeps, 'clock' | 'notifier' | 'log' | 'notices' | 'vacationReplies'>
  readonly #work: Work
  #wanted: 'nothing' | 'top' | 'all' = 'nothing'
  /** True when the last full poll found messages behind the first page. */
  #isFarWorthIt = false
  #pauseUntil = 0
  #looking: Promise<void> | undefined
  #telling: Promise<void> | undefined
  #tick: Timer | undefined
  #due: Timer | undefined
  #soon: NodeJS.Timeout | undefined
  #unlisten: (() => void) | undefined
  #stopped = false

  constructor(deps: Pick<RunnerDeps, 'clock' | 'notifier' | 'log' | 'notices' | 'vacationReplies'>, work: Work) {
    this.#deps = deps
    this.#work = work
  }

  start(): void {
    const { clock, notifier: wake } = this.#deps
    this.#unlisten = wake.listen('deliver', () => this.at('all'))
    this.#tick = clock.every(LOOK_EVERY_MS, () => this.at('all'))
    this.at('all')
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#unlisten?.()
    this.#tick?.cancel()
    this.#due?.cancel()
    clearTimeout(this.#soon)
    await this.rest()
  }

  /** Polls all due deliveries or the first page: now, or after the pause that follows a long poll. */
  at(what: 'top' | 'all'): void {
    if (this.#stopped) return
    if (this.#wanted !== 'all') this.#wanted = what
    // A clock that was set back must not stop the polling.
    const pause = Math.min(this.#pauseUntil - this.#deps.clock.now(), LOOK_EVERY_MS)
    if (pause <= 0) this.#begin()
    else this.#in(pause)
  }

  /** Schedules a poll because capacity is free again. */
  soon(): void {
    this.#in(REFILL_MS)
  }

  /** Polls all due deliveries and waits for the end of the poll. */
  async now(): Promise<void> {
    this.#wanted = 'all'
    this.#begin()
    await this.rest()
  }

  /** Waits until no poll, DSN run or vacation run is in progress. */
  async rest(): Promise<void> {
    while (this.#looking !== undefined || this.#telling !== undefined) {
      await this.#looking
      await this.#telling
    }
  }

  #in(ms: number): void {
    if (this.#stopped) return
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.at(this.#isFarWorthIt ? 'all' : 'top')
    }, ms)
  }

  #begin(): void {
    if (this.#stopped) return
    this.#looking ??= this.#lookUntilQuiet()
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'the queue could not be looked at'))
      .finally(() => {
        this.#looking = undefined
        // A poll may have been requested after the last one ended.
        if (this.#wanted !== 'nothing') this.at(this.#wanted)
      })
  }

  async #lookUntilQuiet(): Promise<void> {
    const { clock } = this.#deps
    do {
      const isFar = this.#wanted === 'all'
      this.#wanted = 'nothing'
      const { behind, askedMs } = await this.#work.take(isFar)
      if (isFar) this.#isFarWorthIt = behind > 0
      this.#pauseUntil = clock.now() + askedMs * PAUSES
    } while (this.#wanted !== 'nothing' && !this.#stopped && clock.now() >= this.#pauseUntil)
    this.#tell()
    await this.#setAlarm()
  }

  /** Sets a timer for deliveries that become due before the next tick. */
  async #setAlarm(): Promise<void> {
    const { clock } = this.#deps
    const next = await this.#work.next()
    this.#due?.cancel()
    const ms = next === null ? LOOK_EVERY_MS : next - clock.now()
    if (ms < LOOK_EVERY_MS && !this.#stopped) this.#due = clock.after(Math.max(ms, 1), () => this.at('all'))
  }

  /** Runs DSNs and vacation responses in the background. */
  #tell(): void {
    const { notices, vacationReplies, log } = this.#deps
    const say = (message: string) => (error: unknown) => log.error({ err: error }, message)
    this.#telling ??= Promise.all([
      notices.run().catch(say('senders could not be told of what failed')),
      vacationReplies.run().catch(say('vacation responses could not be written')),
    ]).then(() => {
      this.#telling = undefined
    })
  }
}
