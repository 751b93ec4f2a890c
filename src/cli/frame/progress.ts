// Progress of a long command: one line that is rewritten at a terminal, a line every few seconds elsewhere.

import type { Clock } from '../../base/clock.ts'
import { sizeText } from '../../maintenance/backup/size-text.ts'
import type { ProgressUnit, StepProgress } from '../../maintenance/progress.ts'

/** Where progress is shown. */
export interface ProgressOutput {
  isTerminal: boolean
  write(text: string): void
  clock: Clock
}

interface Step {
  label: string
  unit: ProgressUnit
  /** Undefined when it is not known beforehand. */
  total: number | undefined
  done: number
  /** Monotonic, ms. */
  since: number
}

/** Between two updates, ms. */
const TERMINAL_MS = 200
const PLAIN_MS = 5_000
/** Below this a rate says nothing, ms. */
const RATE_FROM_MS = 1_000
const CLEAR_LINE = '\r\u001b[K'

export class Progress implements StepProgress {
  readonly #output: ProgressOutput | null
  #step: Step | null = null
  #shownAt: number
  #isShown = false

  /** @param output null shows nothing */
  constructor(output: ProgressOutput | null) {
    this.#output = output
    // A command that ends within a few seconds prints no plain line.
    this.#shownAt = output === null || output.isTerminal ? -Infinity : output.clock.monotonic()
  }

  /**
   * Starts a step; the one before has ended.
   * @param label such as `Copying mail.db`
   */
  begin(label: string, unit: ProgressUnit = 'bytes', total?: number): void {
    if (this.#output === null) return
    this.#step = { label, unit, total, done: 0, since: this.#output.clock.monotonic() }
    if (this.#output.isTerminal) this.#show()
    else this.#showWhenDue()
  }

  /** Adds to what is done of the step. */
  add(amount: number): void {
    if (this.#step === null) return
    this.#step.done += amount
    this.#showWhenDue()
  }

  /** Ends the last step and clears the line at a terminal. */
  end(): void {
    if (this.#isShown && this.#output?.isTerminal) this.#output.write(CLEAR_LINE)
    this.#isShown = false
    this.#step = null
  }

  #showWhenDue(): void {
    const { clock, isTerminal } = this.#output!
    if (clock.monotonic() - this.#shownAt >= (isTerminal ? TERMINAL_MS : PLAIN_MS)) this.#show()
  }

  #show(): void {
    const { clock, isTerminal, write } = this.#output!
    const now = clock.monotonic()
    const text = textOf(this.#step!, now)
    write(isTerminal ? `${CLEAR_LINE}${text}` : `${text}\n`)
    this.#shownAt = now
    this.#isShown = true
  }
}

/** Such as `Copying mail.db: 1.2 GB of 3.4 GB (35 %), 120.0 MB/s, 18 s left`. */
function textOf({ label, unit, total, done, since }: Step, now: number): string {
  if (done === 0) return `${label} …`
  const amount = (value: number) => (unit === 'bytes' ? sizeText(value) : String(Math.round(value)))
  const name = unit === 'bytes' ? '' : ` ${unit}`
  // What is copied or counted may grow meanwhile.
  const share = total === undefined || total === 0 ? null : Math.min(done / total, 1)
  const parts = [
    share === null
      ? `${amount(done)}${name}`
      : `${amount(Math.min(done, total!))} of ${amount(total!)}${name} (${Math.floor(share * 100)} %)`,
  ]
  const elapsed = now - since
  if (elapsed >= RATE_FROM_MS) {
    const rate = (done / elapsed) * 1000
    parts.push(`${amount(rate)}/s`)
    if (share !== null) parts.push(`${durationText(Math.max(total! - done, 0) / rate)} left`)
  }
  return `${label}: ${parts.join(', ')}`
}

/** @param seconds shown as `40 s`, `12 min` or `3 h 05 min` */
function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`
}
