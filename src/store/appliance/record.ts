// The two rows that tie mail.db and blobs.db together: the id of the appliance, its signs of life, the canary of its secret.

import type { Reader, Tx } from '../../db/db.ts'

/** The row of mail.db. */
export interface ApplianceRow {
  id: string
  /** The id, sealed under the secret of the appliance. */
  canary: Uint8Array
  /** Counts the signs of life. */
  beat: number
  /** The time of the last one, ms; while the clock is in doubt, what the time should be. */
  lastSeenAt: number
  /** Whether the clock was in doubt then. */
  isClockHeld: boolean
  /** Whether the last appliance on this file closed it in order. */
  isClosed: boolean
}

/** The row of blobs.db. */
export type OwnerRow = Pick<ApplianceRow, 'id' | 'beat' | 'lastSeenAt'>

export async function readAppliance(mail: Reader): Promise<ApplianceRow | undefined> {
  const row = await mail.get<Omit<ApplianceRow, 'isClosed' | 'isClockHeld'> & { held: number; closed: number }>(
    'SELECT id, canary, beat, last_seen_at AS lastSeenAt, is_clock_held AS held, is_closed AS closed FROM appliance',
  )
  if (row === undefined) return undefined
  const { held, closed, ...rest } = row
  return { ...rest, isClockHeld: held === 1, isClosed: closed === 1 }
}

export function readOwner(blobs: Reader): Promise<OwnerRow | undefined> {
  return blobs.get<OwnerRow>('SELECT id, beat, last_seen_at AS lastSeenAt FROM content_owner')
}

/** Writes the row of mail.db where there is none; another process may have been faster. */
export async function makeAppliance(tx: Tx, row: ApplianceRow): Promise<void> {
  if ((await readAppliance(tx)) !== undefined) return
  const { id, canary, beat, lastSeenAt, isClockHeld, isClosed } = row
  await tx.insert('appliance', {
    ...{ id, canary, beat, last_seen_at: lastSeenAt },
    ...{ is_clock_held: isClockHeld, is_closed: isClosed },
  })
}

/** Writes the row of blobs.db where there is none. */
export async function makeOwner(tx: Tx, { id, beat, lastSeenAt }: OwnerRow): Promise<void> {
  if ((await readOwner(tx)) !== undefined) return
  await tx.insert('content_owner', { id, beat, last_seen_at: lastSeenAt })
}

export async function markOpen(tx: Tx): Promise<void> {
  await tx.run('UPDATE appliance SET is_closed = 0')
}

export async function writeBeat(
  tx: Tx,
  { beat, lastSeenAt, isClockHeld, isClosed }: Pick<ApplianceRow, 'beat' | 'lastSeenAt' | 'isClockHeld' | 'isClosed'>,
): Promise<void> {
  await tx.run('UPDATE appliance SET beat = ?, last_seen_at = ?, is_clock_held = ?, is_closed = ?', [
    ...[beat, lastSeenAt],
    ...[isClockHeld, isClosed],
  ])
}

export async function writeOwnerBeat(tx: Tx, beat: number, lastSeenAt: number): Promise<void> {
  await tx.run('UPDATE content_owner SET beat = ?, last_seen_at = ?', [beat, lastSeenAt])
}

export async function writeLastSeen(tx: Tx, lastSeenAt: number): Promise<void> {
  await tx.run('UPDATE appliance SET last_seen_at = ?', [lastSeenAt])
}
