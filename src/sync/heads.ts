// Reads the heads of messages; those that the server names but does not describe are noted, and asked for again.

import { createHash } from 'node:crypto'
import { countOf } from '../base/number-ranges.ts'
import { TRIES_MAX } from './intake.ts'
import type { RemoteFolder } from './ledger/remote-folders.ts'
import { CONTENT } from './ledger/remote-messages.ts'
import type { RemoteHead, UidSpan } from './server.ts'
import type { SyncSession } from './sync-session.ts'
import { spansOf, uidsOf, without } from './uid-spans.ts'

/** @param asked at most some hundred UIDs of the selected folder, of which some may not be there */
export async function readHeads(
  session: SyncSession,
  folder: RemoteFolder,
  asked: readonly UidSpan[],
): Promise<RemoteHead[]> {
  const { server } = session
  const heads = await server.heads(asked)
  const absent = without(asked, uidsIn(heads))
  if (countOf(absent) === 0) return heads
  // Some numbers stand for no message; of the others the server has left out the heads.
  const there = await server.uids(absent)
  const again = countOf(there) === 0 ? [] : await server.heads(there)
  await noteHeadless(session, folder, without(absent, uidsIn(again)), without(there, uidsIn(again)))
  return [...heads, ...again]
}

function uidsIn(heads: readonly RemoteHead[]): UidSpan[] {
  return spansOf(heads.map(({ uid }) => uid))
}

/** @param absent UIDs without heads @param left those of them that the server names and does not describe */
async function noteHeadless(
  session: SyncSession,
  folder: RemoteFolder,
  absent: readonly UidSpan[],
  left: readonly UidSpan[],
): Promise<void> {
  const { messages, clock } = session.deps
  const known = new Map(messages.in(folder.n, absent, countOf(absent)).map((row) => [row.uid, row]))
  if (known.size === 0 && countOf(left) === 0) return
  const rows = uidsOf(left).map((uid) => {
    const tries = (known.get(uid)?.tries ?? 0) + 1
    const state = tries >= TRIES_MAX ? CONTENT.unreadable : CONTENT.headless
    const content = { message: null, marks: [], labels: null, state, tries, triedAt: clock.now() }
    return { folder: folder.n, uid, key: keyWithoutHead(folder.n, uid), ...content }
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
