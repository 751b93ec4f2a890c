// Looks at one folder of a server: flags that changed, messages that are gone, and which UIDs are new.

import { MINUTE_MS } from '../../base/durations.ts'
import { countOf, piecesOfRanges } from '../../base/number-ranges.ts'
import type { FolderMap } from '../ledger/folder-map.ts'
import { seenMarks } from '../ledger/folder-map.ts'
import { areFlagsUnread, flagsUnread, KEYWORDS_STAY, type RemoteFolder } from '../ledger/remote-folders.ts'
import { isRefusal, type OpenedFolder, type RemoteFlags, type UidSpan } from '../model/server.ts'
import { highest, spansOf, uidsOf, within, without } from '../model/uid-spans.ts'
import { readByHalves } from '../session/halving.ts'
import { DOUBTED, isDoubtful } from '../session/identity.ts'
import {
  applyFolders,
  applyMarks,
  compareAgain,
  type MarkedMessage,
  markedBy,
  noteCrowded,
} from '../session/local-changes.ts'
import type { SyncSession } from '../session/sync-session.ts'
import { allUids, departAll, departConfirmed } from './departures.ts'

/** Messages whose flags are compared in one unit of work. */
const FLAGS_PER_BATCH = 100
/** Without modification numbers: how many of the newest messages are compared each time, and how many at a time when all are. */
const NEWEST_COMPARED = 2_000
const COMPARED_PER_PAGE = 5_000
export const ALL_COMPARED_EVERY_MS = 30 * MINUTE_MS

/** What a look at a folder found. */
export interface FolderLook {
  folder: RemoteFolder
  /** UIDs that are not known, ascending. */
  fresh: UidSpan[]
  /** Messages that are not known and are to be imported, newest first; null: unknown in this session. */
  older: UidSpan[] | null
  /** Some messages are gone from it. */
  hasGone: boolean
}

/**
 * @param full whether to compare all UIDs, whatever the server says of changes
 */
export async function lookAt(
  session: SyncSession,
  map: FolderMap,
  folder: RemoteFolder,
  full: boolean,
): Promise<FolderLook> {
  const { uidValidity, modSeq } = folder
  const isBegun = folder.lowest !== null
  const isKnown = isBegun && uidValidity !== null && uidValidity !== DOUBTED && modSeq !== null
  const opened = await session.select(folder.path, isKnown && !full ? { uidValidity, modSeq } : null)
  const isDoubted = await isDoubtful(session, folder, opened, full)
  const current = await settleNumbers(session, folder, opened, isDoubted)
  const isRenumbered = isDoubted || current.uidValidity !== folder.uidValidity || current.uidNext !== folder.uidNext
  const difference = isRenumbered ? null : opened.difference
  // Messages that were sent from here into a folder before its first look are known already.
  const isFirst = !isBegun || isRenumbered
  const seen = areFlagsUnread(current) ? undefined : difference?.changed
  const changed =
    seen ?? (isFirst ? await allFlags(session, current) : await changedFlags(session, { ...current, modSeq }, opened))
  await applyFlags(session, map, current, changed)
  const isExplained = difference !== null && !full && current.lowest === 1
  const all = isExplained ? null : await uidsIfNeeded(session, current, opened, full || isRenumbered || !isBegun)
  const vanished =
    difference?.vanished ?? (all === null ? [] : without(await session.deps.messages.spans(current.n), all))
  const { hasGone, isSure } = await departConfirmed(session, current, vanished)
  const look = await unknownIn(session, current, opened, all)
  await session.write((tx) =>
    session.deps.folders.set(tx, current.n, {
      // What could not be confirmed is named again with the next look.
      ...(isSure ? { modSeq: opened.modSeq } : {}),
      ...{ total: opened.messages, lookedAt: session.deps.clock.now() },
      isReadOnly: opened.isWritable ? 0 : 1,
      ...(folder.reason === KEYWORDS_STAY && opened.keywords === null ? { reason: null } : {}),
    }),
  )
  const read = session.deps.folders.get(current.n)!
  return { ...look, folder: read, hasGone }
}

/** Begins the import of a folder, or begins it again when its UIDs mean other messages now (RFC 9051 §2.3.1.1). */
async function settleNumbers(
  session: SyncSession,
  folder: RemoteFolder,
  opened: OpenedFolder,
  isDoubted: boolean,
): Promise<RemoteFolder> {
  const { folders, log } = session.deps
  const isOther = folder.uidValidity !== null && folder.uidValidity !== opened.uidValidity
  if (folder.lowest !== null && !isOther && !isDoubted) return folder
  if (isOther || isDoubted) {
    log.info(
      { event: 'sync.folder_renumbered', remote: session.account.id, folder: folder.n },
      'UIDs of a folder changed',
    )
    await departAll(session, folder, [[1, 2 ** 32]])
  }
  await session.write((tx) =>
    folders.set(tx, folder.n, {
      ...{ uidValidity: opened.uidValidity, uidNext: opened.uidNext, lowest: opened.uidNext, modSeq: opened.modSeq },
      ...{ total: opened.messages, done: 0, flagsAt: session.deps.clock.now() },
      // A server that was restored from a backup.
      ...(isDoubted ? { doubt: 'restored' } : isOther ? { doubt: 'renumbered' } : {}),
    }),
  )
  return folders.get(folder.n)!
}

/** Flags that changed, or may have. */
async function changedFlags(session: SyncSession, folder: RemoteFolder, opened: OpenedFolder): Promise<RemoteFlags[]> {
  const { messages, clock } = session.deps
  // What changed while they could not be read is older than what is asked for now.
  if (areFlagsUnread(folder)) return allFlags(session, folder)
  if (opened.modSeq !== null && folder.modSeq !== null)
    return opened.modSeq > folder.modSeq ? changedSince(session, folder, folder.modSeq) : []
  const spans = await messages.spans(folder.n)
  if (spans.length === 0) return []
  const isAllDue = folder.flagsAt === null || clock.now() - folder.flagsAt >= ALL_COMPARED_EVERY_MS
  if (!isAllDue) return (await flagsOf(session, highest(spans, NEWEST_COMPARED))).flags
  return allFlags(session, folder)
}

/** Where the server refuses to say what changed, because it cannot read one message, the flags of all are compared. */
async function changedSince(session: SyncSession, folder: RemoteFolder, modSeq: number): Promise<RemoteFlags[]> {
  try {
    return await session.server.changedSince(modSeq)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return allFlags(session, folder)
  }
}

/** Flags without those of messages that the server refuses. @returns how many messages those are */
async function flagsOf(
  { server }: SyncSession,
  spans: readonly UidSpan[],
): Promise<{ flags: RemoteFlags[]; refused: number }> {
  const { results, refused } = await readByHalves(uidsOf(spans), (uids) => server.flags(spansOf(uids)))
  return { flags: results.flat(), refused: refused.length }
}

async function allFlags(session: SyncSession, folder: RemoteFolder): Promise<RemoteFlags[]> {
  const result: RemoteFlags[] = []
  let unread = 0
  for (const piece of piecesOfRanges(await session.deps.messages.spans(folder.n), COMPARED_PER_PAGE)) {
    const { flags, refused } = await flagsOf(session, piece)
    unread += refused
    // Only what differs is kept: a page is compared before the next one is read.
    result.push(...differing(session, folder, flags))
  }
  const { folders, clock } = session.deps
  const reason = unread > 0 ? flagsUnread(unread) : areFlagsUnread(folder) ? null : folder.reason
  await session.write((tx) => folders.set(tx, folder.n, { flagsAt: clock.now(), reason }))
  return result
}

function differing(session: SyncSession, folder: RemoteFolder, page: readonly RemoteFlags[]): RemoteFlags[] {
  const result: RemoteFlags[] = []
  for (let at = 0; at < page.length; at += FLAGS_PER_BATCH) {
    const batch = page.slice(at, at + FLAGS_PER_BATCH)
    const rows = session.deps.messages.in(folder.n, spansOf(batch.map(({ uid }) => uid)), batch.length)
    const base = new Map(rows.map((row) => [row.uid, row]))
    result.push(...batch.filter((seen) => base.has(seen.uid) && isChanged(base.get(seen.uid)!, seen)))
  }
  return result
}

function isChanged(row: { marks: readonly string[]; labels: readonly string[] | null }, seen: RemoteFlags): boolean {
  const text = (list: readonly string[]) => [...list].sort().join('\n')
  const isSame = text(row.marks) === text(seenMarks(seen.flags, seen.labels))
  return !isSame || (seen.labels !== null && text(row.labels ?? []) !== text(seen.labels))
}

/** Writes flags and labels that changed at the server, and does the same here. */
async function applyFlags(
  session: SyncSession,
  map: FolderMap,
  folder: RemoteFolder,
  changed: readonly RemoteFlags[],
): Promise<void> {
  const { messages, store } = session.deps
  for (let at = 0; at < changed.length; at += FLAGS_PER_BATCH) {
    const batch = new Map(changed.slice(at, at + FLAGS_PER_BATCH).map((seen) => [seen.uid, seen]))
    await session.write((tx) => {
      const rows = messages.in(folder.n, spansOf([...batch.keys()]), batch.size, tx)
      const differ = rows.filter((row) => isChanged(row, batch.get(row.uid)!))
      if (differ.length === 0) return
      const numbers = differ.flatMap(({ message }) => message ?? [])
      const isMirror = session.account.mode === 'mirror'
      const placements = isMirror ? store.programs.mail.placements(session.mail, numbers, tx) : new Map()
      const marked: MarkedMessage[] = []
      const crowded = new Set<number>()
      for (const row of differ) {
        const seen = batch.get(row.uid)!
        const placement = row.message === null ? undefined : placements.get(row.message)
        if (placement === undefined) continue
        const before = map.foldersOf(row)
        const one = markedBy(placement, before[0] ?? 0, { base: row.marks, server: seenMarks(seen.flags, seen.labels) })
        if (one !== null) marked.push(one)
        if (seen.labels === null) continue
        const after = map.foldersOf({ ...row, labels: [...seen.labels] })
        if (!applyFolders(tx, session, placement, { before, after })) crowded.add(row.uid)
      }
      if (crowded.size > 0) noteCrowded(tx, session, folder.n)
      const now = store.programs.mail.placements(session.mail, numbers, tx)
      applyMarks(
        tx,
        session,
        marked.map((one) => ({ ...one, placement: now.get(one.placement.n)! })),
      )
      messages.mark(
        tx,
        folder.n,
        differ.map(({ uid }) => {
          const { flags, labels } = batch.get(uid)!
          // Labels that were not taken over are not the base: they would seem to have been removed here.
          return { uid, marks: seenMarks(flags, labels), labels: crowded.has(uid) ? null : labels }
        }),
      )
      // Its copy in another folder is to be marked as well.
      const copies = messages.of(session.account.n, numbers, tx)
      const several = [...copies].filter(([, rows]) => rows.length > 1).map(([n]) => n)
      if (isMirror && several.length > 0) compareAgain(tx, session, map, several)
    })
  }
}

/** All UIDs, when something may be gone or unknown. */
async function uidsIfNeeded(
  session: SyncSession,
  folder: RemoteFolder,
  opened: OpenedFolder,
  isNeeded: boolean,
): Promise<UidSpan[] | null> {
  // Also of an empty folder: some servers count wrongly for a moment.
  const isQuiet = opened.uidNext === folder.uidNext && opened.messages === folder.total && folder.lowest === 1
  return isQuiet && !isNeeded ? null : allUids(session, opened)
}

/** The UIDs that are not known. @param all those of the folder; null: only new ones can be unknown */
async function unknownIn(
  session: SyncSession,
  folder: RemoteFolder,
  opened: OpenedFolder,
  all: readonly UidSpan[] | null,
): Promise<{ fresh: UidSpan[]; older: UidSpan[] | null }> {
  const next = folder.uidNext ?? 1
  if (all === null) {
    const isLonger = opened.uidNext - next > NEWEST_COMPARED
    const range: UidSpan[] = opened.uidNext > next ? [[next, opened.uidNext - 1]] : []
    return { fresh: isLonger ? within(await allUids(session, opened), next, opened.uidNext - 1) : range, older: null }
  }
  const lowest = folder.lowest ?? 1
  const known = await session.deps.messages.spans(folder.n)
  const unknown = without(all, known)
  const fresh = within(unknown, lowest, 2 ** 32)
  const older = within(unknown, 1, lowest - 1)
  return { fresh, older: countOf(older) === 0 ? [] : older }
}
