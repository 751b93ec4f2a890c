// Message numbers: each account has its own range, in which numbers grow with the time of receipt.

import { MINUTE_MS } from '../../base/durations.ts'
import type { Tx } from '../../db/db.ts'
import { isNumberRecorded, lastNumberOf } from '../changes.ts'

// The full-text index can be read in order of rowid only. With a range per account, a search never reads messages of other accounts;
// with numbers in order of receipt, a search for a frequent word reads the newest messages first. Lists order by received_at, so a
// message whose second is taken (many at once, or an import of old messages) can get a number nearby.
const RANGE = 2 ** 32
const LAST_SECOND = RANGE - 2 ** 24
const SPREAD_FACTOR = 2
// Messages that are inspected concurrently can be stored seconds out of order, which is close enough.
const NEAR_MS = MINUTE_MS

/** Range of message numbers of an account, both ends inclusive. Safe integers up to account 2,097,151. */
export function numberRange(account: number): { low: number; high: number } {
  return { low: account * RANGE, high: (account + 1) * RANGE - 1 }
}

/** Returns an unused number for a message received at `receivedAt` (ms). */
export function nextNumber(tx: Tx, account: number, receivedAt: number): number {
  const { low, high } = numberRange(account)
  const preferred = low + Math.min(Math.max(Math.floor(receivedAt / 1000), 1), LAST_SECOND)
  const recorded = lastNumberOf(account, 'messages')
  const last = tx.get<{ n: number | null; received_at: number | null; recorded: number | null }>(
    `SELECT m.n, m.received_at, (${recorded.sql}) AS recorded FROM (SELECT 1)
       LEFT JOIN (SELECT n, received_at FROM messages WHERE n BETWEEN ? AND ? ORDER BY n DESC LIMIT 1) m`,
    [...recorded.values, low, high],
  )!
  // Also above deleted messages that the ledger still records.
  const highest = Math.max(last.n ?? 0, last.recorded ?? 0)
  if (preferred > highest) return preferred
  const isNew = last.received_at === null || receivedAt >= last.received_at - NEAR_MS
  if (isNew && highest < high) return highest + 1
  return freeNumberNear(tx, account, preferred, { low, high })
}

function freeNumberNear(
  tx: Tx,
  account: number,
  preferred: number,
  { low, high }: { low: number; high: number },
): number {
  let spread = 1
  for (;;) {
    const n = Math.min(low + ((preferred - low + Math.floor(Math.random() * spread)) % RANGE), high)
    const isTaken = tx.get('SELECT n FROM messages WHERE n = ?', [n]) !== undefined
    if (!isTaken && !isNumberRecorded(tx, account, 'messages', n)) return n
    spread = Math.min(spread * SPREAD_FACTOR, RANGE)
  }
}
