// Announces to a session what changed in its selected folder: EXPUNGE or VANISHED, EXISTS, FETCH (RFC 9051 §5.2, §7.4, §7.5; RFC 7162).

import type { FolderEntry } from '../store/folders-views.ts'
import { ENTRY_FLAGS } from '../store/messages/keywords.ts'
import { announceKeywords, formatFlags } from './flag-texts.ts'
import { formatRanges, type NumberRange } from './grammar/sets.ts'
import type { SelectedFolder } from './selected.ts'
import type { ImapSession } from './session.ts'
import type { UidView } from './views.ts'

export interface AnnounceOptions {
  /** EXPUNGE may be sent: sequence numbers may change now. */
  mayRemove: boolean
  /** FETCH names the UID, as answers to UID commands do. */
  withUid: boolean
}

const PAGE = 500

/**
 * Brings the session up to date with its selected folder. When the folder is gone, its messages are removed and the session ends.
 * Nothing is announced twice: everything read is at least as new as the number that is remembered.
 */
export async function announceChanges(session: ImapSession, { mayRemove, withUid }: AnnounceOptions): Promise<void> {
  const { folder, app } = session
  const current = await app.views.current(folder.n)
  if (current === undefined) return folderIsGone(session)
  const before = folder.view
  if (current.modSeq === folder.modSeq && current.view === before) return
  // Numbers that a power failure could take back are not shown.
  await app.db.durable()
  const removed = before.minus(current.view)
  if (mayRemove) announceRemoved(session, removed)
  const next = removed.length === 0 || mayRemove ? current.view : before.withTailOf(current.view)
  const known = folder.view
  folder.view = next
  takeRecent(session, folder.uidNext, current.uidNext)
  if (next.count > known.count) announceCount(session)
  const since = folder.modSeq
  folder.modSeq = current.modSeq
  folder.uidNext = current.uidNext
  if (current.modSeq > since) await announceFlags(session, { since, until: before.lastUid, withUid })
}

/** Messages that arrived are recent to the first read-write session that announces them (RFC 3501 §2.3.2). */
function takeRecent({ app, folder, isRev2 }: ImapSession, from: number, uidNext: number): void {
  if (isRev2 || folder.isReadOnly || uidNext <= from) return
  const taken = app.views.takeRecent(folder.n, from, uidNext)
  if (taken < uidNext) folder.recent = [...folder.recent, [taken, uidNext - 1]]
}

function announceCount(session: ImapSession): void {
  const { folder, isRev2 } = session
  session.say(`* ${folder.view.count} EXISTS\r\n`)
  if (!isRev2) session.say(`* ${folder.recentCount} RECENT\r\n`)
}

/** EXPUNGE from the highest number down, or VANISHED. The view of the folder no longer has the messages afterwards. */
export function announceRemoved(session: ImapSession, uids: readonly NumberRange[]): void {
  const { folder } = session
  if (uids.length === 0) return
  if (session.enabled.has('QRESYNC')) session.say(`* VANISHED ${formatRanges(uids)}\r\n`)
  else {
    for (const [first, last] of folder.view.sequencesOf(uids).toReversed()) {
      for (let sequence = last; sequence >= first; sequence--) session.say(`* ${sequence} EXPUNGE\r\n`)
    }
  }
  folder.view = folder.view.without(uids)
  session.saved = folder.view.within(session.saved)
  for (const uid of folder.own.keys()) if (folder.view.sequenceOf(uid) === 0) folder.own.delete(uid)
}

interface FlagsOptions {
  since: number
  /** Highest UID the client knew of: it asks for the flags of new messages itself. */
  until: number
  withUid: boolean
}

async function announceFlags(session: ImapSession, { since, until, withUid }: FlagsOptions): Promise<void> {
  const { folder, app, signedIn } = session
  for (let after = 0; ; ) {
    const page = await app.store.views.changedSince(signedIn.account, folder.n, since, { after, limit: PAGE })
    await app.db.durable()
    const changed = page.filter(({ uid, modSeq }) => uid <= until && folder.own.get(uid) !== modSeq)
    const labels = labelsOf(session, changed)
    for (const entry of changed) {
      const sequence = folder.view.sequenceOf(entry.uid)
      if (sequence > 0) sayFlags(session, sequence, entry, { labels: labels.get(entry.message) ?? [], withUid })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE || last.uid > until) break
    after = last.uid
    await session.writer.ready()
  }
  folder.own.clear()
}

/** Keywords of the messages of entries, by number of the message. */
export function labelsOf(session: ImapSession, entries: readonly FolderEntry[]): Map<number, string[]> {
  const labelled = entries.filter(({ flags }) => (flags & ENTRY_FLAGS.labelled) !== 0)
  return labelled.length === 0 ? new Map() : session.app.store.mail.labels(labelled.map(({ message }) => message))
}

export interface FlagsToSay {
  labels: readonly string[]
  withUid: boolean
}

/** One FETCH answer with flags; with UID and MODSEQ where the session wants them. */
export function sayFlags(
  session: ImapSession,
  sequence: number,
  entry: { uid: number; modSeq: number; flags: number },
  { labels, withUid }: FlagsToSay,
): void {
  announceKeywords(session, labels)
  const flags = formatFlags(entry, labels, isRecentHere(session, session.folder, entry.uid))
  const uid = withUid || session.usesCondstore || session.isRev2 ? `UID ${entry.uid} ` : ''
  const modSeq = session.usesCondstore ? ` MODSEQ (${entry.modSeq})` : ''
  session.say(`* ${sequence} FETCH (${uid}FLAGS ${flags}${modSeq})\r\n`)
}

/** \Recent is not part of IMAP4rev2. */
export function isRecentHere(session: ImapSession, folder: SelectedFolder, uid: number): boolean {
  return !session.isRev2 && folder.isRecent(uid)
}

/** The folder was deleted: its messages go, and the session ends, because there is no other way to say it (RFC 9051 §7.1). */
function folderIsGone(session: ImapSession): void {
  const { folder } = session
  const view: UidView = folder.view
  announceRemoved(session, view.ranges())
  folder.release()
  session.selected = null
  session.bye('The selected mailbox was deleted.')
}
