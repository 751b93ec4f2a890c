// Whether UIDs still name the messages that they named: compared before anything is changed at the server, and when its numbers are in doubt.

import { CONTENT } from '../ledger/content-state.ts'
import type { RemoteFolder } from '../ledger/remote-folders.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { hexOf, isNamed, messageKey } from '../model/message-key.ts'
import type { OpenedFolder, RemoteHead } from '../model/server.ts'
import { spansOf, uidsOf, without } from '../model/uid-spans.ts'
import { digestOf, digestsThere } from './content-digest.ts'
import { headsOf } from './heads.ts'
import type { SyncSession } from './sync-session.ts'

/** Stands for the UIDVALIDITY of a folder whose UIDs are in doubt: equal to none, so that its next look reads all its messages again. */
export const DOUBTED = 0
/** The newest known messages that are compared when new ones arrive. */
const SAMPLE = 3

export interface Identified {
  /** Their UIDs still name them. */
  same: RemoteMessage[]
  /** Their UIDs name no message. */
  absent: RemoteMessage[]
  /** Their UIDs name other messages. */
  different: RemoteMessage[]
}

/**
 * Compares rows of the selected folder, at least one, with its messages. Rows that cannot be compared are in none of the lists.
 * A server that was restored from a backup gives new messages UIDs that others had, under the same UIDVALIDITY.
 */
export async function identify(session: SyncSession, rows: readonly RemoteMessage[]): Promise<Identified> {
  const spans = spansOf(rows.map(({ uid }) => uid))
  const { heads, refused } = await headsOf(session, rows[0]!.folder, spans)
  const byUid = new Map(heads.map((head) => [head.uid, head]))
  const unseen = without(without(spans, spansOf([...byUid.keys()])), spansOf(refused))
  // Some servers leave out heads of messages that are there.
  const there = unseen.length === 0 ? [] : await session.server.uids(unseen)
  const isAbsent = new Set(uidsOf(without(unseen, there)))
  const result: Identified = { same: [], absent: rows.filter(({ uid }) => isAbsent.has(uid)), different: [] }
  const unsure: [RemoteMessage, RemoteHead][] = []
  for (const row of rows) {
    const head = byUid.get(row.uid)
    if (head === undefined) continue
    if (isNamed(head) && isSameKey(session, row, head)) result.same.push(row)
    else unsure.push([row, head])
  }
  await compareContents(session, unsure, result)
  return result
}

async function compareContents(
  session: SyncSession,
  unsure: readonly [RemoteMessage, RemoteHead][],
  { same, different }: Identified,
): Promise<void> {
  if (unsure.length === 0) return
  const digests = await digestsThere(
    session,
    unsure[0]![0].folder,
    unsure.map(([{ uid }]) => uid),
  )
  const { account, deps } = session
  for (const [row, head] of unsure) {
    const [before, now] = [await digestOf(session, row, head.sizeBytes), digests.get(row.uid)]
    const isEqual = isSameKey(session, row, head)
    if (before !== null && now !== undefined) (before === now ? same : different).push(row)
    else if (!isEqual) different.push(row)
    // Without its content the key decides, unless other messages have the same.
    else if (before === null && deps.messages.withKeys(account.n, [row.key]).length === 1) same.push(row)
  }
}

function isSameKey({ facts }: SyncSession, { key }: RemoteMessage, head: RemoteHead): boolean {
  return hexOf(key) === hexOf(messageKey(head, facts.hasExactSizes))
}

/**
 * Whether UIDs of the selected folder may name other messages than before: its numbers went back, or the newest known messages are others.
 * After a server was restored, new messages have the highest UIDs that were known before.
 * @param full whether to compare although nothing is new
 */
export async function isDoubtful(
  session: SyncSession,
  folder: RemoteFolder,
  opened: OpenedFolder,
  full: boolean,
): Promise<boolean> {
  if (folder.uidValidity === null || folder.lowest === null) return false
  if (folder.uidValidity === DOUBTED) return true
  // A folder that is numbered again counts from the beginning: lower numbers say nothing of its messages.
  if (folder.uidValidity !== opened.uidValidity) return false
  if (folder.uidNext !== null && opened.uidNext < folder.uidNext) return true
  if (folder.modSeq !== null && opened.modSeq !== null && opened.modSeq < folder.modSeq) return true
  // A folder may have lost as many messages as it got since: its numbers are as before then.
  const isEqual = opened.uidNext === folder.uidNext && opened.modSeq !== null && opened.modSeq === folder.modSeq
  if (isEqual && !full) return false
  const rows = session.deps.messages.newest(folder.n, SAMPLE).filter(({ state }) => state !== CONTENT.headless)
  return rows.length > 0 && (await identify(session, rows)).different.length > 0
}
