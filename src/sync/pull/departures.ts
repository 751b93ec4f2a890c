// Which known messages of a folder are gone: what one answer of the server says is believed when FETCH does not give them either.

import { countOf, joinRanges, piecesOfRanges } from '../../base/number-ranges.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import { isRefusal, type OpenedFolder, type UidSpan } from '../model/server.ts'
import { spansOf, uidsOf, without } from '../model/uid-spans.ts'
import { readByHalves } from '../session/halving.ts'
import type { SyncSession } from '../session/sync-session.ts'

/** Messages marked as gone in one unit of work. */
const GONE_PER_BATCH = 500
/** Messages that are asked for with one command. */
const CONFIRMED_PER_COMMAND = 5_000

/** All UIDs of the selected folder. A search that finds fewer messages than the folder has is completed by FETCH. */
export async function allUids({ server }: SyncSession, opened: OpenedFolder): Promise<UidSpan[]> {
  const found = await server.uids()
  if (countOf(found) >= opened.messages) return found
  try {
    return joinRanges([...found, ...(await server.fetchedUids())])
  } catch (error) {
    // What it does not list is asked for once more before it counts as gone.
    if (isRefusal(error)) return found
    throw error
  }
}

export interface Departures {
  /** Some messages are gone. */
  hasGone: boolean
  /** Whether the server told of each of them if it is there. */
  isSure: boolean
}

/**
 * Marks known messages of the selected folder as gone that the server no longer names, unless FETCH gives them: a search index that is
 * rebuilt, or a wrong VANISHED, takes nothing away.
 */
export async function departConfirmed(
  session: SyncSession,
  folder: RemoteFolder,
  vanished: readonly UidSpan[],
): Promise<Departures> {
  if (vanished.length === 0) return { hasGone: false, isSure: true }
  const known = await session.deps.messages.spans(folder.n)
  const named = without(known, without(known, vanished))
  let [hasGone, isSure] = [false, true]
  for (const piece of piecesOfRanges(named, CONFIRMED_PER_COMMAND)) {
    const { results, refused } = await readByHalves(uidsOf(piece), (uids) => session.server.flags(spansOf(uids)))
    const there = [...results.flat().map(({ uid }) => uid), ...refused.map(({ item }) => item)]
    isSure &&= refused.length === 0
    if (await departAll(session, folder, without(piece, spansOf(there)))) hasGone = true
    if (there.length > 0) noteContradiction(session, folder, there.length)
  }
  return { hasGone, isSure }
}

function noteContradiction({ account, deps }: SyncSession, { n }: RemoteFolder, messages: number): void {
  const facts = { event: 'sync.removal_contradicted', remote: account.id, folder: n, messages }
  deps.log.warn(facts, 'The server leaves out messages that it has')
}

/** Marks messages as gone, whatever the server says. @returns whether there were any */
export async function departAll(
  session: SyncSession,
  folder: RemoteFolder,
  spans: readonly UidSpan[],
): Promise<boolean> {
  const { messages } = session.deps
  let count = 0
  if (spans.length === 0) return false
  for (let left = GONE_PER_BATCH; left === GONE_PER_BATCH; count += left)
    left = await session.write((tx) => messages.depart(tx, folder.n, spans, GONE_PER_BATCH))
  return count > 0
}
