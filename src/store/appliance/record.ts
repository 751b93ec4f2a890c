// The rows that tie mail.db and blobs.db together: id of the appliance, last heartbeats, times of a doubtful clock, the canary of its secret.

import { CLOCK_JUMP_MS, type WrongSpan } from '../../base/clock-guard.ts'
import type { Reader, Tx } from '../../db/db.ts'

/** A heartbeat as both databases record it. */
interface HeartbeatRecord {
  /** Counts the heartbeats. */
  generation: number
  /** Random, of this heartbeat alone; null when an earlier version wrote it, without one. */
  token: string | null
  /** The token of the heartbeat before it. */
  previousToken: string | null
  /** Its time, ms; while the clock is not trusted, the expected time. */
  lastSeenAt: number
}

/** The row of mail.db. */
export interface ApplianceRow extends HeartbeatRecord {
  id: string
  /** The id, sealed under the secret of the appliance. */
  canary: Uint8Array
  /** Whether the clock was not trusted at the last heartbeat. */
  isClockHeld: boolean
  /** Whether the last appliance on this file closed it in order. */
  isClosed: boolean
}

/** The row of blobs.db. */
export type OwnerRow = HeartbeatRecord & Pick<ApplianceRow, 'id'>

const HEARTBEAT_COLUMNS = 'generation, token, previous_token AS previousToken, last_seen_at AS lastSeenAt'
const SET_HEARTBEAT = 'generation = ?, token = ?, previous_token = ?, last_seen_at = ?'

export function readAppliance(mail: Reader): ApplianceRow | undefined {
  const row = mail.get<Omit<ApplianceRow, 'isClosed' | 'isClockHeld'> & { held: number; closed: number }>(
    `SELECT id, canary, ${HEARTBEAT_COLUMNS}, is_clock_held AS held, is_closed AS closed FROM appliance`,
  )
  if (row === undefined) return undefined
  const { held, closed, ...rest } = row
  return { ...rest, isClockHeld: held === 1, isClosed: closed === 1 }
}

export function readOwner(blobs: Reader): OwnerRow | undefined {
  return blobs.get<OwnerRow>(`SELECT id, ${HEARTBEAT_COLUMNS} FROM content_owner`)
}

/** The id in mail.db, also of an earlier schema version that has the table. */
export function readApplianceId(mail: Reader): string | undefined {
  return mail.get<{ id: string }>('SELECT id FROM appliance')?.id
}

/** The same of blobs.db. */
export function readOwnerId(blobs: Reader): string | undefined {
  return blobs.get<{ id: string }>('SELECT id FROM content_owner')?.id
}

/** Writes the row of mail.db where there is none; another process may have been faster. */
export function makeAppliance(tx: Tx, row: ApplianceRow): void {
  if (readAppliance(tx) !== undefined) return
  const { id, canary, isClockHeld, isClosed } = row
  tx.insert('appliance', {
    ...{ id, canary, ...heartbeatColumns(row) },
    ...{ is_clock_held: isClockHeld, is_closed: isClosed },
  })
}

/** Writes the row of blobs.db where there is none. */
export function makeOwner(tx: Tx, row: OwnerRow): void {
  if (readOwner(tx) !== undefined) return
  tx.insert('content_owner', { id: row.id, ...heartbeatColumns(row) })
}

function heartbeatColumns({ generation, token, previousToken, lastSeenAt }: HeartbeatRecord) {
  return { generation, token, previous_token: previousToken, last_seen_at: lastSeenAt }
}

export function markOpen(tx: Tx): void {
  tx.run('UPDATE appliance SET is_closed = 0')
}

export function writeHeartbeat(
  tx: Tx,
  { isClockHeld, isClosed, ...record }: HeartbeatRecord & Pick<ApplianceRow, 'isClockHeld' | 'isClosed'>,
): void {
  tx.run(`UPDATE appliance SET ${SET_HEARTBEAT}, is_clock_held = ?, is_closed = ?`, [
    ...heartbeatValues(record),
    ...[isClockHeld, isClosed],
  ])
}

export function writeOwnerHeartbeat(tx: Tx, record: HeartbeatRecord): void {
  tx.run(`UPDATE content_owner SET ${SET_HEARTBEAT}`, heartbeatValues(record))
}

function heartbeatValues({ generation, token, previousToken, lastSeenAt }: HeartbeatRecord) {
  return [generation, token, previousToken, lastSeenAt]
}

/** Makes the last heartbeat of blobs.db that of mail.db, without the time. */
export function adoptHeartbeat(tx: Tx, { generation, token }: HeartbeatRecord): void {
  tx.run('UPDATE appliance SET generation = ?, previous_token = token, token = ?', [generation, token])
}

export function writeLastSeen(tx: Tx, lastSeenAt: number): void {
  tx.run('UPDATE appliance SET last_seen_at = ?', [lastSeenAt])
}

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
