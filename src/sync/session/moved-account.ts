// An account that was moved to another server: the same messages under other UIDs, in folders that may have other paths.

import type { RemoteFolder } from '../ledger/remote-folders.ts'
import { bareId } from '../model/message-key.ts'
import { isRefusal } from '../model/server.ts'
import { nameFolders, type PlannedFolder, prefixOf } from '../model/tree-names.ts'
import { DOUBTED } from './identity.ts'
import type { SyncSession } from './sync-session.ts'

/** The newest known messages of each folder that are looked for by their Message-IDs, and how many of them must be there. */
const SAMPLE = 20
const SAME_SHARE = 0.8

/**
 * Takes an account as the one that was followed when the newest messages of its folders are there. Then all folders are read again, with the
 * paths that they have now: known messages keep their ids, and what is missing is held.
 * @param compared its largest folders @returns false when it is another account, or not all of it is there: nothing is changed
 */
export async function takeMoved(session: SyncSession, compared: readonly RemoteFolder[]): Promise<boolean> {
  // What is collected is known by its keys alone.
  if (session.account.mode === 'collect') return false
  const listed = await session.server.folders()
  const moved = targetsOf(session, nameFolders(listed, prefixOf(listed)))
  let [asked, found] = [0, 0]
  for (const folder of compared) {
    const ids = newestIds(session, folder)
    const path = moved.get(folder.n)?.path
    asked += ids.length
    if (path !== undefined) found += await countThere(session, path, ids)
  }
  if (found === 0 || found < asked * SAME_SHARE) return false
  await relocate(session, moved)
  const { log } = session.deps
  log.info(
    { event: 'sync.account_moved', remote: session.account.id },
    'An outside account was moved to another server',
  )
  return true
}

/** By number of a known folder: the listed one that has its role, or its name. */
function targetsOf({ deps, account }: SyncSession, named: readonly PlannedFolder[]): Map<number, PlannedFolder> {
  const known = deps.folders.list(account.n)
  const open = new Set(named)
  const targets = new Map<number, PlannedFolder>()
  const take = (isTarget: (folder: RemoteFolder, one: PlannedFolder) => boolean) => {
    for (const folder of known) {
      const target = targets.has(folder.n) ? undefined : [...open].find((one) => isTarget(folder, one))
      if (target === undefined) continue
      open.delete(target)
      targets.set(folder.n, target)
    }
  }
  take(({ role }, one) => role !== null && one.role === role)
  take(({ localPath, path }, one) => one.names.join('/') === (localPath ?? path))
  return targets
}

function newestIds({ deps }: SyncSession, { n }: RemoteFolder): string[] {
  const numbers = deps.messages.newest(n, SAMPLE).flatMap(({ message }) => message ?? [])
  return [...deps.store.programs.mail.internetIds(numbers).values()].flatMap((id) => bareId(id) ?? [])
}

async function countThere(session: SyncSession, path: string, ids: readonly string[]): Promise<number> {
  try {
    await session.select(path)
    let count = 0
    for (const id of ids) if ((await session.server.find(id)).length > 0) count++
    return count
  } catch (error) {
    if (isRefusal(error)) return 0
    throw error
  }
}

/** A folder that has no target is gone: its messages are looked for in the others. */
async function relocate(session: SyncSession, targets: ReadonlyMap<number, PlannedFolder>): Promise<void> {
  const { deps, account } = session
  await session.write((tx) => {
    const known = deps.folders.list(account.n, tx)
    // Paths may be exchanged: each folder leaves its own one first.
    for (const { n } of known) deps.folders.set(tx, n, { path: `\0${n}` })
    for (const { n, path, uidValidity } of known) {
      const target = targets.get(n)
      const isTaken = [...targets.values()].some((one) => one.path === path)
      const doubt = uidValidity === null ? {} : { uidValidity: DOUBTED }
      const now = target?.path ?? (isTaken ? `\0${n}` : path)
      deps.folders.set(tx, n, { ...doubt, path: now, objectId: target?.objectId ?? null })
    }
  })
}
