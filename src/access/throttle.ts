// Throttles failed sign-ins per source and per mailbox (docs/design/mail-programs.md §1), for all listeners together.

import type { Clock } from '../base/clock.ts'
import { MINUTE_MS } from '../base/durations.ts'
import type { Log } from '../base/log.ts'
import { sourceOf } from '../net/connections.ts'

/** Failures within this time count, and a source or mailbox is refused for this time after its last one that did. */
export const WINDOW_MS = 10 * MINUTE_MS
/**
 * Failures of a source (IPv4 address, IPv6 /64) from which its tries are refused, but those for mailboxes that it has signed in to before;
 * of one mailbox from such a source, from which they are refused as well.
 */
export const SOURCE_FAILURES_MAX = 20
/** Failures for a mailbox from which tries are refused, except from sources that have signed in to it before. */
export const MAILBOX_FAILURES_MAX = 200
/** Delay of the answer to the first failure of a source in ms; it doubles with each. */
export const FIRST_DELAY_MS = 1000
export const DELAY_MAX_MS = 16_000
/** Sources, mailboxes, and mailboxes of sources, with failures that are remembered; the least recently active is removed first. */
export const REMEMBERED_MAX = 50_000

/** What is tried: a mailbox, or a name without one. Unknown names are counted too, so that they are answered alike. */
export type SignInTarget = { mailboxId: string } | { name: string }

export class SignInThrottle {
  readonly #clock: Clock
  readonly #log: Pick<Log, 'info' | 'warn'>
  readonly #sources = new Map<string, number[]>()
  readonly #mailboxes = new Map<string, number[]>()
  /** By source and mailbox: many people may share the address of a network with one who guesses. */
  readonly #ofSources = new Map<string, number[]>()
  /** Apart from mailboxes: guessed names must not push them out. */
  readonly #names = new Map<string, number[]>()

  constructor(deps: { clock: Clock; log: Pick<Log, 'info' | 'warn'> }) {
    this.#clock = deps.clock
    this.#log = deps.log
  }

  /** Number of sources, mailboxes and names that are remembered. */
  get sizes(): [sources: number, mailboxes: number, names: number] {
    return [this.#sources.size, this.#mailboxes.size, this.#names.size]
  }

  /** Whether a try must be refused without looking at its secret. @param isKnown whether the source has signed in to the mailbox before */
  refuses(address: string, target: SignInTarget | null, isKnown: () => boolean): boolean {
    const source = sourceOf(address)
    const isSourceOver = this.#recent(this.#sources, source).length >= SOURCE_FAILURES_MAX
    if (target === null) return isSourceOver
    const [failures, key] = this.#of(target)
    if (!isSourceOver && this.#recent(failures, key).length < MAILBOX_FAILURES_MAX) return false
    if (!isKnown()) return true
    return this.#recent(this.#ofSources, `${source} ${key}`).length >= SOURCE_FAILURES_MAX
  }

  /** Counts a failure. @returns ms after which it may be answered */
  failed(address: string, target: SignInTarget | null): number {
    const delay = this.delay(address)
    const source = sourceOf(address)
    const ofSource = this.#add(this.#sources, source, SOURCE_FAILURES_MAX)
    const ofTarget = target === null ? 0 : this.#add(...this.#of(target), MAILBOX_FAILURES_MAX)
    if (target !== null && 'mailboxId' in target)
      this.#add(this.#ofSources, `${source} ${target.mailboxId}`, SOURCE_FAILURES_MAX)
    if (ofSource === SOURCE_FAILURES_MAX) {
      const line = { event: 'sign_in.source_refused', remote_address: address }
      this.#log.info(line, 'Source refused for its failed sign-ins')
    }
    if (ofTarget === MAILBOX_FAILURES_MAX && target !== null && 'mailboxId' in target) {
      const line = { event: 'sign_in.mailbox_guarded', mailbox_id: target.mailboxId }
      this.#log.warn(line, 'Many failed sign-ins to a mailbox: sources it does not know are refused')
    }
    return delay
  }

  /** @returns ms after which a failure of this source may be answered that does not count: one with a secret that was right once */
  delay(address: string): number {
    const failures = this.#recent(this.#sources, sourceOf(address)).length
    return Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** failures)
  }

  #of(target: SignInTarget): [Map<string, number[]>, string] {
    return 'mailboxId' in target ? [this.#mailboxes, target.mailboxId] : [this.#names, target.name]
  }

  /** Times of the failures that count, oldest first. */
  #recent(failures: Map<string, number[]>, key: string): number[] {
    const times = failures.get(key)
    if (times === undefined) return []
    // A clock that cannot be set: a correction of the time must not prolong a lock.
    const since = this.#clock.monotonic() - WINDOW_MS
    return times.filter((time) => time > since)
  }

  /** @param most the newest ones that are kept @returns how many count now */
  #add(failures: Map<string, number[]>, key: string, most: number): number {
    const times = [...this.#recent(failures, key), this.#clock.monotonic()]
    failures.delete(key)
    failures.set(key, times.slice(-most))
    if (failures.size > REMEMBERED_MAX) failures.delete(failures.keys().next().value!)
    return times.length
  }
}
