// Rate limits of invitations: per agent, per recipient and in total, each in a rolling window (docs/design/contract.md §8).

import { DAY_MS, HOUR_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'
import type { Tx } from '../db/db.ts'

/** Per agent and day, per recipient and hour, in total per hour. */
export const PER_REGISTRATION = 3
export const PER_RECIPIENT = 3
export const IN_ALL = 1000
/** Older counts are outside every window. */
export const DISPATCHES_MS = DAY_MS

/** Counts an invitation. @throws ProductError rate_limit_exceeded */
export function takeDispatch(
  tx: Tx,
  { registration, email, now }: { registration: number; email: string; now: number },
): void {
  const ofAgent = { condition: 'registration = ?', values: [registration], max: PER_REGISTRATION, ms: DAY_MS, now }
  checkLimit(tx, ofAgent)
  checkLimit(tx, { condition: 'email = ?', values: [email], max: PER_RECIPIENT, ms: HOUR_MS, now })
  checkLimit(tx, { condition: '1 = 1', values: [], max: IN_ALL, ms: HOUR_MS, now })
  tx.insert('invite_dispatches', { registration, email, at: now })
}

interface WindowLimit {
  condition: string
  values: (string | number)[]
  max: number
  /** Length of the rolling window. */
  ms: number
  now: number
}

/** @throws ProductError rate_limit_exceeded until the oldest invitation leaves the window */
function checkLimit(tx: Tx, { condition, values, max, ms, now }: WindowLimit): void {
  const row = tx.get<{ at: number }>(
    `SELECT at FROM invite_dispatches WHERE ${condition} AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?`,
    [...values, now - ms, max - 1],
  )
  if (row !== undefined) throw tooMany('Too many invitations were sent. Try again later.', row.at + ms - now)
}

export function tooMany(message: string, waitMs: number): ProductError {
  return new ProductError('rate_limit_exceeded', message, { retryAfter: Math.ceil(waitMs / 1000) })
}
