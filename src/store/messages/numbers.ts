// The numbers of messages: each account has a range of its own, and inside it numbers grow with the time of receipt.

import type { Tx } from '../../db/db.ts'
import { isRemembered, lastNumber } from '../changes.ts'

// The full-text index can be walked by number only. With a range per account a search never meets the mail of others, and with
// numbers near the order of lists a search for a frequent word meets the newest mail first. Lists themselves order by
// received_at: what cannot have its own second (many at once, or old mail between other old mail) gets a number nearby.
const RANGE = 2 ** 32
const LAST_SECOND = RANGE - 2 ** 24
const SPREAD_START = 2
// Mails inspected side by side overtake one another by seconds: that is near enough.
const NEAR_MS = 60_000

/** The numbers messages of an account can have, both ends inclusive. Safe integers up to account 2,097,151. */
export function numberRange(account: number): { low: number; high: number } {
  return { low: account * RANGE, high: (account + 1) * RANGE - 1 }
}

/** A free number for a message received at `receivedAt` (ms). */
export async function nextNumber(tx: Tx, account: number, receivedAt: number): Promise<number> {
  const { low, high } = numberRange(account)
  const own = low + Math.min(Math.max(Math.floor(receivedAt / 1000), 1), LAST_SECOND)
  const last = await tx.get<{ n: number; received_at: number }>(
    'SELECT n, received_at FROM messages WHERE n BETWEEN ? AND ? ORDER BY n DESC LIMIT 1',
    [low, high],
  )
  // Also above what was erased: the ledger still tells of it.
  const highest = Math.max(last?.n ?? 0, await lastNumber(tx, account, 'messages'))
  if (own > highest) return own
  const isNew = last === undefined || receivedAt >= last.received_at - NEAR_MS
  if (isNew && highest < high) return highest + 1
  return freeNear(tx, account, own, { low, high })
}

async function freeNear(
  tx: Tx,
  account: number,
  own: number,
  { low, high }: { low: number; high: number },
): Promise<number> {
  let spread = 1
  for (;;) {
    const n = Math.min(low + ((own - low + Math.floor(Math.random() * spread)) % RANGE), high)
    const isTaken = (await tx.get('SELECT n FROM messages WHERE n = ?', [n])) !== undefined
    if (!isTaken && !(await isRemembered(tx, account, 'messages', n))) return n
    spread = Math.min(spread * SPREAD_START, RANGE)
  }
}
