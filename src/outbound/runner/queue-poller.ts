// When the runner looks for work: when the bell rings, when something becomes due, when there is room again, and once a second.

import type { Timer } from '../../base/clock.ts'
import type { RunnerParts } from './deps.ts'

/** A bell that was lost costs this long, in ms. */
const LOOK_EVERY_MS = 1000
/** While mails are on their way, those that have arrived make room for others so often: a look costs more than a mail. ms. */
const REFILL_MS = 15
/** After a look that took long there is a pause of so many times its length: at most a fifth of the time is spent looking. */
const PAUSES = 4

/** What a look found. */
export interface Found {
  /** Mails that lay behind others that could not be taken. */
  behind: number
  /** How long the queue took to answer, in ms. */
  askedMs: number
}

interface Work {
  /** @param isFar also looks behind what cannot be taken now */
  take(isFar: boolean): Promise<Found>
  /** When (ms) something becomes due that is not yet; null when nothing will. */
  next(): Promise<number | null>
}

export class Look {
  readonly #parts: Pick<RunnerParts, 'clock' | 'wake' | 'log' | 'notices' | 'vacationReplies'>
  readonly #work: Work
  #wanted: 'nothing' | 'top' | 'all' = 'nothing'
  /** True when it was worth looking behind what could not be taken. */
  #isFarWorthIt = false
  #pauseUntil = 0
  #looking: Promise<void> | undefined
  #telling: Promise<void> | undefined
  #tick: Timer | undefined
  #due: Timer | undefined
  #soon: NodeJS.Timeout | undefined
  #unlisten: (() => void) | undefined
  #stopped = false

  constructor(parts: Pick<RunnerParts, 'clock' | 'wake' | 'log' | 'notices' | 'vacationReplies'>, work: Work) {
    this.#parts = parts
    this.#work = work
  }

  start(): void {
    const { clock, wake } = this.#parts
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

  /** Looks at all that is due, or at what is on top of it: now, or when the pause after a long look is over. */
  at(what: 'top' | 'all'): void {
    if (this.#stopped) return
    if (this.#wanted !== 'all') this.#wanted = what
    // A clock that was set back must not stop the work.
    const pause = Math.min(this.#pauseUntil - this.#parts.clock.now(), LOOK_EVERY_MS)
    if (pause <= 0) this.#begin()
    else this.#in(pause)
  }

  /** Some of what was in hand has gone: there is room. */
  soon(): void {
    this.#in(REFILL_MS)
  }

  /** Looks at all that is due, and waits for it. */
  async now(): Promise<void> {
    this.#wanted = 'all'
    this.#begin()
    await this.rest()
  }

  /** Waits until nobody looks and nobody is told. */
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
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'the queue could not be looked at'))
      .finally(() => {
        this.#looking = undefined
        // Somebody may have asked after the last look was over.
        if (this.#wanted !== 'nothing') this.at(this.#wanted)
      })
  }

  async #lookUntilQuiet(): Promise<void> {
    const { clock } = this.#parts
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

  /** What becomes due before the next tick is not to wait for it. */
  async #setAlarm(): Promise<void> {
    const { clock } = this.#parts
    const next = await this.#work.next()
    this.#due?.cancel()
    const ms = next === null ? LOOK_EVERY_MS : next - clock.now()
    if (ms < LOOK_EVERY_MS && !this.#stopped) this.#due = clock.after(Math.max(ms, 1), () => this.at('all'))
  }

  /** Senders from mailboxes are told of what failed, and who wrote to somebody who is away; nothing waits for that. */
  #tell(): void {
    const { notices, vacationReplies, log } = this.#parts
    const say = (message: string) => (error: unknown) => log.error({ err: error }, message)
    this.#telling ??= Promise.all([
      notices.run().catch(say('senders could not be told of what failed')),
      vacationReplies.run().catch(say('vacation responses could not be written')),
    ]).then(() => {
      this.#telling = undefined
    })
  }
}
