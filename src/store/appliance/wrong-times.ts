// Stores the times a wrong clock showed while it was in doubt.

import { CLOCK_JUMP_MS, type WrongSpan } from '../../base/clock-guard.ts'
import type { Reader, Tx } from '../../db/db.ts'

/** Spans that are kept: a clock that jumps more often is not followed further. */
const SPANS_MAX = 20
/** A wrong time is noted every minute: rows are written up to that long before and after it. ms */
const SLACK_MS = 2 * 60_000

/** Notes what a clock in doubt shows. @param times ms; since: when it was last right */
export function noteWrongTime(tx: Tx, { now, since }: { now: number; since: number }): void {
  const spans = readWrongTimes(tx)
  const near = spans.find(({ from, until }) => now >= from - CLOCK_JUMP_MS && now <= until + CLOCK_JUMP_MS)
  const [from, until] = [Math.floor(now) - SLACK_MS, Math.ceil(now) + SLACK_MS]
  if (near !== undefined) {
    const sql = 'UPDATE wrong_times SET from_at = min(from_at, ?), until_at = max(until_at, ?) WHERE from_at = ?'
    tx.run(sql, [from, until, near.from])
  } else if (spans.length < SPANS_MAX) {
    tx.insert('wrong_times', { since: Math.floor(spans[0]?.since ?? since), from_at: from, until_at: until })
  }
}

export function readWrongTimes(reader: Reader): WrongSpan[] {
  return reader.all<WrongSpan>('SELECT since, from_at AS "from", until_at AS until FROM wrong_times ORDER BY rowid')
}

export function forgetWrongTimes(tx: Tx): void {
  tx.run('DELETE FROM wrong_times')
}
