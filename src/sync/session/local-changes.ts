// Changes the mailbox as the server changed: marks and folders of messages, in a unit of work of the caller.

import type { Tx } from '../../db/db.ts'
import { FOLDERS_MAX } from '../../store/messages/edits.ts'
import type { MailPlacement } from '../../store/messages/mail-reads.ts'
import type { FolderMap } from '../ledger/folder-map.ts'
import { sendNow } from '../ledger/intents.ts'
import type { RemoteMessage } from '../ledger/remote-messages.ts'
import { keywordsIn } from '../model/marks.ts'
import {
  DELETED,
  type FolderNumbers,
  incomingFolders,
  incomingMarks,
  isNothing,
  type MarkChange,
  type Marks,
} from '../model/merge.ts'
import type { SyncSession } from './sync-session.ts'

/** What of a folder is not as it is at the server. */
export const CROWDED = `Some of its messages are in more than ${FOLDERS_MAX} folders: here they are not in all of them.`

/** A message whose marks changed at the server. */
export interface MarkedMessage {
  placement: MailPlacement
  /** The folder here whose `\Deleted` is meant. */
  folder: number
  change: MarkChange
}

/** The marks of a message here, as its entry in a folder has them. */
export function localMarks({ keywords, entries }: MailPlacement, folder: number): string[] {
  const isDeleted = entries.some((entry) => entry.folder === folder && entry.isDeleted)
  return isDeleted ? [...keywords, DELETED] : keywords
}

export function localFolders({ entries }: MailPlacement): number[] {
  return entries.map(({ folder }) => folder)
}

/** What the server changed of a message, if anything; null: nothing is to be done. */
export function markedBy(
  placement: MailPlacement,
  folder: number,
  { base, server }: { base: Marks; server: Marks },
): MarkedMessage | null {
  const change = incomingMarks(base, server, localMarks(placement, folder))
  return isNothing(change) ? null : { placement, folder, change }
}

/** Applies changes of marks, those of equal changes together. */
export function applyMarks(tx: Tx, session: SyncSession, marked: readonly MarkedMessage[]): void {
  const { flags } = session.deps.store.programs
  const groups = Map.groupBy(marked, ({ placement, folder, change }) => {
    const entry = entryIn(placement, folder)
    return JSON.stringify([entry?.folder, entry?.folder === folder, change])
  })
  for (const group of groups.values()) {
    const [{ placement, folder, change }] = group as [MarkedMessage, ...MarkedMessage[]]
    const entry = entryIn(placement, folder)
    if (entry === undefined) continue
    const uids = group.map((one) => entryIn(one.placement, folder)!.uid)
    const keywords = { add: keywordsIn(change.add), remove: keywordsIn(change.remove) }
    const isMarked = change.add.includes(DELETED) || change.remove.includes(DELETED)
    flags.changeIn(
      tx,
      session.mail,
      { folder: entry.folder, uids },
      {
        keywords,
        ...(isMarked && entry.folder === folder ? { deleted: change.add.includes(DELETED) } : {}),
      },
    )
  }
}

/** The entry by which a message is found: the one in the folder, if it is there. */
function entryIn({ entries }: MailPlacement, folder: number) {
  return entries.find((entry) => entry.folder === folder) ?? entries[0]
}

/**
 * Puts a message into the folders where the server has it now.
 * @param change its folders there before and after; without any it is erased, and held to be restored
 * @returns false when it would be in more folders than a message can have: nothing is changed
 */
export function applyFolders(
  tx: Tx,
  session: SyncSession,
  placement: MailPlacement,
  change: { before: FolderNumbers; after: FolderNumbers },
): boolean {
  const {
    edit: { messages: edits, removed },
    read: { folders },
  } = session.deps.store
  const local = localFolders(placement)
  const filed = incomingFolders({ ...change, local }, session.areLabels)
  if (filed.length === local.length && filed.every((folder) => local.includes(folder))) return true
  const ids = new Map(folders.keys(session.mail, tx).map(({ n, id }) => [n, id]))
  const set = filed.flatMap((folder) => ids.get(folder) ?? [])
  if (filed.length === 0) {
    removed.hold(tx, session.mail, [placement.n], session.deps.clock.now())
    edits.deleteIn(tx, session.mail, [placement.id])
  }
  if (set.length === 0) return true
  const { notUpdated } = edits.changeNumbersIn(tx, session.mail, [placement.n], { folders: { set } }, { moves: false })
  return notUpdated.length === 0
}

/** States in the list of folders, and in the log, that messages of a folder there are not in all their folders here. @param n number of the remote folder */
export function noteCrowded(tx: Tx, { deps, account }: SyncSession, n: number): void {
  deps.folders.set(tx, n, { reason: CROWDED })
  tx.afterCommit(() =>
    deps.log.warn(
      { event: 'sync.folders_refused', remote: account.id, folder: n, reason: CROWDED },
      'A message is in too many folders',
    ),
  )
}

/**
 * Has messages sent again whose folders or marks here are not those there, after both sides changed them: what was changed here may have
 * been compared with a base that is no longer so.
 */
export function compareAgain(tx: Tx, session: SyncSession, map: FolderMap, messages: readonly number[]): void {
  const { intents, store, messages: base } = session.deps
  const placements = store.programs.mail.placements(session.mail, messages, tx)
  const copies = base.of(session.account.n, messages, tx)
  for (const placement of placements.values()) {
    const rows = (copies.get(placement.n) ?? []).filter(({ uid }) => uid > 0)
    if (rows.length === 0 || isEqual(placement, rows, map)) continue
    intents.add(tx, session.account.n, sendNow(placement.n))
  }
}

function isEqual(placement: MailPlacement, rows: readonly RemoteMessage[], map: FolderMap): boolean {
  const there = new Set(rows.flatMap((row) => map.foldersOf(row)))
  const local = localFolders(placement)
  if (local.length !== there.size || local.some((folder) => !there.has(folder))) return false
  return rows.every((row) => {
    const marks = localMarks(placement, map.foldersOf(row)[0] ?? 0)
    return marks.length === row.marks.length && marks.every((mark) => row.marks.includes(mark))
  })
}
