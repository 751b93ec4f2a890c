// Folders that a list of the server leaves out: when they count as gone.

import { MINUTE_MS } from '../../base/durations.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import { isRefusal } from '../model/server.ts'
import type { SyncSession } from '../session/sync-session.ts'
import { GONE, isUnlisted, MISSED, UNLISTED } from './ignored-folders.ts'

const MISSED_WAIT_MS = MINUTE_MS

/**
 * Notes that a folder was not listed. A list may be wrong: the messages of the folder are kept until the next one, and STATUS, say the same.
 * @returns whether it is gone
 */
export async function noteMissing(session: SyncSession, folder: RemoteFolder): Promise<boolean> {
  const { clock, folders } = session.deps
  const isKnownGone = folder.reason === GONE
  const missedAt = isKnownGone || isUnlisted(folder) ? folder.suspectAt : null
  const isLate = missedAt !== null && clock.now() - missedAt >= MISSED_WAIT_MS
  const isGone = isKnownGone || (isLate && !(await isThere(session, folder)))
  const reason = isGone ? GONE : isLate ? UNLISTED : MISSED
  const change = { state: 'ignored' as const, reason, lowest: 1, suspectAt: missedAt ?? clock.now() }
  if (folder.reason !== reason) await session.write((tx) => folders.set(tx, folder.n, change))
  return isGone
}

async function isThere({ server }: SyncSession, { path, uidValidity }: RemoteFolder): Promise<boolean> {
  try {
    const status = await server.status(path)
    return uidValidity === null || status.uidValidity === uidValidity
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}
