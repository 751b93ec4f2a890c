// Rate limits of invitations: per agent, per recipient and in total, each in a rolling window (docs/design/contract.md §8).

import { DAY_MS, HOUR_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'
import type { Tx } from '../db/db.ts'
import { countedMailbox } from '../mime/local-part.ts'
import { NETWORKS } from './networks.ts'
import type { Registration } from './records.ts'

/** Per agent and day, per recipient and hour, in total per hour. */
export const PER_REGISTRATION = 3
export const PER_RECIPIENT = 3
export const IN_ALL = 1000
/** Per network address that has registered agents and day, whatever their number; per recipient and day. */
export const PER_SOURCE_AND_DAY = 6
export const PER_RECIPIENT_AND_DAY = 6
/** Older counts are outside every window. */
export const DISPATCHES_MS = DAY_MS

/** Counts an invitation. @throws ProductError rate_limit_exceeded */
export function takeDispatch(
  tx: Tx,
  { registration, email, now }: { registration: Inviter; email: string; now: number },
): void {
  const { n, source } = registration
  const recipient = countedMailbox(email)
  checkLimit(tx, { condition: 'registration = ?', values: [n], max: PER_REGISTRATION, ms: DAY_MS, now })
  if (source !== null) {
    const condition = 'registration IN (SELECT n FROM agent_registrations WHERE source = ?)'
    checkLimit(tx, { condition, values: [source], max: PER_SOURCE_AND_DAY, ms: DAY_MS, now })
  }
  checkLimit(tx, { condition: 'email = ?', values: [recipient], max: PER_RECIPIENT, ms: HOUR_MS, now })
  checkLimit(tx, { condition: 'email = ?', values: [recipient], max: PER_RECIPIENT_AND_DAY, ms: DAY_MS, now })
  for (const { column, part } of NETWORKS) {
    const mac = column === 'network' ? registration.network : registration.wideNetwork
    // Agents whose networks are no longer kept share one part.
    if (mac === null && column === 'network') continue
    const condition = `EXISTS (SELECT 1 FROM agent_registrations AS r WHERE r.n = registration AND r.${column} IS ?)`
    checkLimit(tx, { condition, values: [mac], max: IN_ALL * part, ms: HOUR_MS, now })
  }
  checkLimit(tx, { condition: '1 = 1', values: [], max: IN_ALL, ms: HOUR_MS, now })
  tx.insert('invite_dispatches', { registration: n, email: recipient, at: now })
}

type Inviter = Pick<Registration, 'n' | 'source' | 'network' | 'wideNetwork'>

interface WindowLimit {
  condition: string
  values: (string | number | Uint8Array | null)[]
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
