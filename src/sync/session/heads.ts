// Reads the heads of messages; those that the server lists and does not describe, or refuses, are noted as skipped.

import { createHash } from 'node:crypto'
import { countOf } from '../../base/number-ranges.ts'
import { CONTENT } from '../ledger/content-state.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { SkipReason } from '../model/records.ts'
import type { RemoteHead, UidSpan } from '../model/server.ts'
import { spansOf, uidsOf, without } from '../model/uid-spans.ts'
import { readApart } from './halving.ts'
import type { SyncSession } from './sync-session.ts'

/** @param asked at most some hundred UIDs of the selected folder, of which some may not be there */
export async function readHeads(
  session: SyncSession,
  folder: RemoteFolder,
  asked: readonly UidSpan[],
): Promise<RemoteHead[]> {
  const { server } = session
  const { heads, refused } = await headsOf(session, folder.n, asked)
  const absent = without(asked, uidsIn(heads))
  if (countOf(absent) === 0) return heads
  // Some numbers stand for no message; of the others the server has left out the heads.
  const there = await server.uids(absent)
  const again = await headsOf(session, folder.n, without(there, spansOf(refused)))
  const skipped = uidsOf(without(there, uidsIn(again.heads)))
  const isRefused = new Set([...refused, ...again.refused])
  await noteHeadless(
    session,
    folder,
    without(absent, uidsIn(again.heads)),
    skipped.map((uid) => ({ uid, why: isRefused.has(uid) ? 'refused' : 'absent' })),
  )
  return [...heads, ...again.heads]
}

/** @param folder number of the selected folder @returns the heads that the server gives, and the UIDs that it refuses each alone */
export async function headsOf(
  { server, deps, signal }: SyncSession,
  folder: number,
  asked: readonly UidSpan[],
): Promise<{ heads: RemoteHead[]; refused: number[] }> {
  const scope = { folder, breaks: deps.headBreaks, signal }
  const { results, refused } = await readApart(scope, uidsOf(asked), (uids) => server.heads(spansOf(uids)))
  return { heads: results.flat(), refused: refused.map(({ item }) => item) }
}

function uidsIn(heads: readonly RemoteHead[]): UidSpan[] {
  return spansOf(heads.map(({ uid }) => uid))
}

/** @param absent UIDs without heads @param skipped those of them that the server lists */
async function noteHeadless(
  session: SyncSession,
  folder: RemoteFolder,
  absent: readonly UidSpan[],
  skipped: readonly { uid: number; why: SkipReason }[],
): Promise<void> {
  const { messages, clock } = session.deps
  const known = new Map(messages.in(folder.n, absent, countOf(absent)).map((row) => [row.uid, row]))
  if (known.size === 0 && skipped.length === 0) return
  const rows = skipped.map(({ uid, why }) => {
    // Of those that are asked for again, this attempt is counted.
    const tries = Math.max(known.get(uid)?.tries ?? 0, 1)
    const content = { message: null, marks: [], labels: null, state: CONTENT.headless, tries, triedAt: clock.now() }
    return { folder: folder.n, uid, key: keyWithoutHead(folder.n, uid), digest: null, skipReason: why, ...content }
  })
  await session.write((tx) => {
    messages.remove(tx, folder.n, uidsOf(absent))
    messages.add(tx, rows)
  })
}

/** Is the key of no message. */
function keyWithoutHead(folder: number, uid: number): Uint8Array {
  return new Uint8Array(createHash('sha256').update(`headless ${folder} ${uid}`).digest().subarray(0, 16))
}
