// When the runner polls the queue: on `deliver`, when a delivery becomes due, when capacity is free again, and once a second.

import type { Timer } from '../../base/clock.ts'
import type { RunnerDeps } from './deps.ts'

/** Poll interval: the longest delay after a lost notification, in ms. */
const POLL_EVERY_MS = 1000
/** Minimum time between polls that refill freed capacity, because a poll costs more than a message. ms. */
const REFILL_MS = 15
/** The pause after a poll as a multiple of its duration: polling takes at most a fifth of the time. */
const PAUSES = 4

interface QueueWork {
  /**
   * @param isFullPoll reads the queue from its beginning; else what became due or may be taken since the last poll
   * @returns the duration of the queries, in ms
   */
  claimDue(isFullPoll: boolean): Promise<number>
  /** When (ms) the next delivery becomes due; null when none will. */
  nextDueAt(): number | null
}

export class QueuePoller {
  readonly #deps: Pick<RunnerDeps, 'clock' | 'notifier' | 'log' | 'notices' | 'vacationReplies' | 'notifications'>
  readonly #work: QueueWork
  #wanted: 'nothing' | 'next' | 'all' = 'nothing'
  #pauseUntil = 0
  #polling: Promise<void> | undefined
  #notifying: Promise<void> | undefined
  #tick: Timer | undefined
  #due: Timer | undefined
  #soon: NodeJS.Timeout | undefined
  #unlisten: (() => void) | undefined
  #stopped = false

  constructor(
    deps: Pick<RunnerDeps, 'clock' | 'notifier' | 'log' | 'notices' | 'vacationReplies' | 'notifications'>,
    work: QueueWork,
  ) {
    this.#deps = deps
    this.#work = work
  }

  start(): void {
    const { clock, notifier } = this.#deps
    this.#unlisten = notifier.listen('deliver', () => this.request('all'))
    this.#tick = clock.every(POLL_EVERY_MS, () => this.request('all'))
    this.request('all')
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#unlisten?.()
    this.#tick?.cancel()
    this.#due?.cancel()
    clearTimeout(this.#soon)
    await this.whenIdle()
  }

  /** Polls all due deliveries or the next ones: now, or after the pause that follows a long poll. */
  request(what: 'next' | 'all'): void {
    if (this.#stopped) return
    if (this.#wanted !== 'all') this.#wanted = what
    // A clock that was set back must not stop the polling.
    const pause = Math.min(this.#pauseUntil - this.#deps.clock.now(), POLL_EVERY_MS)
    if (pause <= 0) this.#begin()
    else this.#pollIn(pause)
  }

  /** Schedules a poll because capacity is free again. */
  requestSoon(): void {
    this.#pollIn(REFILL_MS)
  }

  /** Polls all due deliveries and waits for the end of the poll. */
  async pollNow(): Promise<void> {
    this.#wanted = 'all'
    this.#begin()
    await this.whenIdle()
  }

  /** Waits until no poll, DSN run or vacation run is in progress. */
  async whenIdle(): Promise<void> {
    while (this.#polling !== undefined || this.#notifying !== undefined) {
      await this.#polling
      await this.#notifying
    }
  }

  #pollIn(ms: number): void {
    if (this.#stopped) return
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.request('next')
    }, ms)
  }

  #begin(): void {
    if (this.#stopped) return
    this.#polling ??= this.#pollUntilQuiet()
      .catch((error: unknown) => this.#deps.log.error({ event: 'queue.poll_failed', err: error }, 'Queue poll failed'))
      .finally(() => {
        this.#polling = undefined
        // A poll may have been requested after the last one ended.
        if (this.#wanted !== 'nothing') this.request(this.#wanted)
      })
  }

  async #pollUntilQuiet(): Promise<void> {
    const { clock } = this.#deps
    let wasFull = false
    do {
      const isFullPoll = this.#wanted === 'all'
      this.#wanted = 'nothing'
      wasFull ||= isFullPoll
      const queryMs = await this.#work.claimDue(isFullPoll)
      this.#pauseUntil = clock.now() + queryMs * PAUSES
    } while (this.#wanted !== 'nothing' && !this.#stopped && clock.now() >= this.#pauseUntil)
    // Polls that refill freed capacity are many; a DSN may wait for the next full one, at most a second.
    if (wasFull) this.#runNotices()
    this.#setAlarm()
  }

  /** Sets a timer for deliveries that become due before the next tick. */
  #setAlarm(): void {
    const { clock } = this.#deps
    const next = this.#work.nextDueAt()
    this.#due?.cancel()
    const ms = next === null ? POLL_EVERY_MS : next - clock.now()
    if (ms < POLL_EVERY_MS && !this.#stopped) this.#due = clock.after(Math.max(ms, 1), () => this.request('all'))
  }

  /** Runs DSNs, vacation responses and notifications in the background. */
  #runNotices(): void {
    const { notices, vacationReplies, notifications, log } = this.#deps
    const logError = (event: string, message: string) => (error: unknown) => log.error({ event, err: error }, message)
    this.#notifying ??= Promise.all([
      notices.run().catch(logError('dsn.run_failed', 'DSN run failed')),
      vacationReplies.run().catch(logError('vacation.run_failed', 'Vacation response run failed')),
      notifications.run().catch(logError('notification.run_failed', 'Notification run failed')),
    ]).then(() => {
      this.#notifying = undefined
    })
  }
}
