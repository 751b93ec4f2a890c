// Message numbers: each account has its own range, in which numbers grow with the time of receipt.

import { MINUTE_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import { NUMBER_RANGE, numberRange } from '../rows/accounts-numbers.ts'
import { isNumberRecorded, lastNumberOf } from '../rows/changes.ts'

// The full-text index can be read in order of rowid only. With a range per account, a search never reads messages of other accounts;
// with numbers in order of receipt, a search for a frequent word reads the newest messages first. Lists order by received_at, so a
// message whose second is taken (many at once, or an import of old messages) can get a number nearby.
const LAST_SECOND = NUMBER_RANGE - 2 ** 24
const SPREAD_FACTOR = 2
// Messages that are inspected concurrently can be stored seconds out of order, which is close enough.
const NEAR_MS = MINUTE_MS

/** A message that needs a number. */
export interface Unnumbered {
  account: number
  /** ms */
  receivedAt: number
}

/** Returns unused numbers for new messages, in their order; they are inserted in the same unit of work. */
export function nextNumbers(tx: Tx, messages: readonly Unnumbered[]): number[] {
  const ranges = new Map<number, AccountNumbers>()
  return messages.map(({ account, receivedAt }) => {
    const known = ranges.get(account) ?? new AccountNumbers(tx, account)
    ranges.set(account, known)
    return known.next(receivedAt)
  })
}

/** The numbers of one account during a unit of work. */
class AccountNumbers {
  readonly #tx: Tx
  readonly #account: number
  readonly #range: { low: number; high: number }
  readonly #assigned = new Set<number>()
  /** Also above deleted messages that the ledger still records. */
  #highest: number
  /** The message with the highest number: that number, and its time of receipt. */
  #last: { n: number; receivedAt: number } | undefined

  constructor(tx: Tx, account: number) {
    this.#tx = tx
    this.#account = account
    this.#range = numberRange(account)
    const recorded = lastNumberOf(account, 'messages')
    const last = tx.get<{ n: number | null; received_at: number; recorded: number | null }>(
      `SELECT m.n, m.received_at, (${recorded.sql}) AS recorded FROM (SELECT 1)
         LEFT JOIN (SELECT n, received_at FROM messages WHERE n BETWEEN ? AND ? ORDER BY n DESC LIMIT 1) m`,
      [...recorded.values, this.#range.low, this.#range.high],
    )!
    this.#highest = Math.max(last.n ?? 0, last.recorded ?? 0)
    if (last.n !== null) this.#last = { n: last.n, receivedAt: last.received_at }
  }

  next(receivedAt: number): number {
    const n = this.#choose(receivedAt)
    this.#assigned.add(n)
    this.#highest = Math.max(this.#highest, n)
    if (this.#last === undefined || n > this.#last.n) this.#last = { n, receivedAt }
    return n
  }

  #choose(receivedAt: number): number {
    const { low, high } = this.#range
    const preferred = low + Math.min(Math.max(Math.floor(receivedAt / 1000), 1), LAST_SECOND)
    if (preferred > this.#highest) return preferred
    const isNew = this.#last === undefined || receivedAt >= this.#last.receivedAt - NEAR_MS
    if (isNew && this.#highest < high) return this.#highest + 1
    return this.#freeNear(preferred)
  }

  #freeNear(preferred: number): number {
    const { low, high } = this.#range
    let spread = 1
    for (;;) {
      const n = Math.min(low + ((preferred - low + Math.floor(Math.random() * spread)) % NUMBER_RANGE), high)
      if (!this.#isTaken(n)) return n
      spread = Math.min(spread * SPREAD_FACTOR, NUMBER_RANGE)
    }
  }

  #isTaken(n: number): boolean {
    if (this.#assigned.has(n)) return true
    if (this.#tx.get('SELECT n FROM messages WHERE n = ?', [n]) !== undefined) return true
    return isNumberRecorded(this.#tx, this.#account, 'messages', n)
  }
}
