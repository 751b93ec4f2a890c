// Announces to a session what changed in its selected folder: EXPUNGE or VANISHED, EXISTS, FETCH (RFC 9051 §5.2, §7.4, §7.5; RFC 7162).

import { countOf, type NumberRange } from '../../base/number-ranges.ts'
import type { FolderEntry } from '../../store/entries/folders-views.ts'
import { ENTRY_FLAGS } from '../../store/entries/keywords.ts'
import { formatRanges, normalizeRanges } from '../grammar/sets.ts'
import type { ImapSession } from '../session/session.ts'
import type { AnnounceOptions } from '../session/session-owner.ts'
import { TimeSlice } from '../session/time-slice.ts'
import type { SelectedFolder } from '../views/selected.ts'
import type { UidView } from '../views/views.ts'
import { announceKeywords, formatFlags } from './flag-texts.ts'
import { fetchName, isUidOnly } from './message-sets.ts'

/** What is announced of the selected folder. */
export interface UpdateOptions extends AnnounceOptions {
  /** Changed flags are announced (NOTIFY may leave them out). */
  withFlags: boolean
  /** Nothing is announced but the end of the folder: the view of the session stays as it is. */
  isQuiet: boolean
}

const PAGE = 500

/**
 * Brings the session up to date with its selected folder. When the folder is gone, its messages are removed and the session ends.
 * Nothing is announced twice: everything read is at least as new as the number that is remembered.
 * @returns UIDs of messages that were announced for the first time
 */
export async function announceChanges(
  session: ImapSession,
  { mayRemove, withUid, withFlags, isQuiet }: UpdateOptions,
): Promise<readonly NumberRange[]> {
  const { folder, app } = session
  const current = await app.views.current(folder.n)
  if (current === undefined) {
    await folderIsGone(session)
    return []
  }
  const before = folder.view
  const slice = new TimeSlice()
  if (isQuiet || (current.modSeq === folder.modSeq && current.view === before)) return []
  // Numbers that a power failure could take back are not shown.
  await app.db.durable(session.signedIn.account.n)
  await slice.pause()
  const removed = before.minus(current.view)
  const isRemoving = mayRemove && removed.length > 0
  await slice.pause()
  if (isRemoving) await sayRemoved(session, removed)
  folder.view = isRemoving || removed.length === 0 ? current.view : before.withTailOf(current.view)
  if (isRemoving) forgetRemoved(session)
  takeRecent(session, folder.uidNext, current.uidNext)
  const left = isRemoving ? before.count - countOf(removed) : before.count
  if (folder.view.count > left) announceCount(session)
  const since = folder.modSeq
  folder.modSeq = current.modSeq
  folder.uidNext = current.uidNext
  const fresh = folder.view.within([[before.lastUid + 1, 2 ** 32 - 1]])
  if (!withFlags) folder.own.clear()
  else if (current.modSeq > since) await announceFlags(session, { since, until: before.lastUid, withUid })
  return fresh
}

/** Messages that arrived are recent to the first read-write session that announces them (RFC 3501 §2.3.2). */
function takeRecent({ app, folder, isRev2 }: ImapSession, from: number, uidNext: number): void {
  if (isRev2 || folder.isReadOnly || uidNext <= from) return
  const taken = app.views.takeRecent(folder.n, from, uidNext)
  if (taken < uidNext) folder.recent = normalizeRanges([...folder.recent, [taken, uidNext - 1]], 0)
}

function announceCount(session: ImapSession): void {
  const { folder, isRev2 } = session
  session.say(`* ${folder.view.count} EXISTS\r\n`)
  if (!isRev2) session.say(`* ${folder.recentCount} RECENT\r\n`)
}

/** EXPUNGE or VANISHED. The view of the folder no longer has the messages afterwards. @param uids ascending, all in the view */
export async function announceRemoved(session: ImapSession, uids: readonly NumberRange[]): Promise<void> {
  if (uids.length === 0) return
  await sayRemoved(session, uids)
  session.folder.view = session.folder.view.without(uids)
  forgetRemoved(session)
}

/** What is known of messages that have left the view. */
function forgetRemoved(session: ImapSession): void {
  const { view, own } = session.folder
  session.saved = view.within(session.saved)
  for (const uid of own.keys()) if (view.sequenceOf(uid) === 0) own.delete(uid)
}

/** VANISHED, or EXPUNGE from the highest number down; in pieces, because there may be very many. */
async function sayRemoved(session: ImapSession, uids: readonly NumberRange[]): Promise<void> {
  const slice = new TimeSlice()
  const pause = async () => {
    await session.writer.ready()
    await slice.pause()
    session.assertOpen()
  }
  if (session.enabled.has('QRESYNC') || isUidOnly(session)) {
    session.progress.isWithinResponse = true
    for (let at = 0; at < uids.length; at += PAGE) {
      session.say(at === 0 ? '* VANISHED ' : ',', formatRanges(uids.slice(at, at + PAGE)))
      await pause()
    }
    session.progress.isWithinResponse = false
    return session.say('\r\n')
  }
  const sequences = session.folder.view.sequencesOf(uids)
  await pause()
  let count = 0
  for (let at = sequences.length - 1; at >= 0; at--) {
    const [first, last] = sequences[at]!
    for (let sequence = last; sequence >= first; sequence--) {
      session.say(`* ${sequence} EXPUNGE\r\n`)
      if (++count % PAGE === 0) await pause()
    }
  }
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
    const page = await app.store.programs.views.changedSince(signedIn.account, folder.n, since, { after, limit: PAGE })
    await app.db.durable(session.signedIn.account.n)
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
  return labelled.length === 0
    ? new Map()
    : session.app.store.programs.mail.labels(labelled.map(({ message }) => message))
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
  const withName = withUid || session.usesCondstore || session.isRev2
  const uid = withName && !isUidOnly(session) ? `UID ${entry.uid} ` : ''
  const modSeq = session.usesCondstore ? ` MODSEQ (${entry.modSeq})` : ''
  session.say(`${fetchName(session, sequence, entry.uid)} (${uid}FLAGS ${flags}${modSeq})\r\n`)
}

/** \Recent is not part of IMAP4rev2. */
export function isRecentHere(session: ImapSession, folder: SelectedFolder, uid: number): boolean {
  return !session.isRev2 && folder.isRecent(uid)
}

/** The folder was deleted: its messages go, and the session ends, because there is no other way to say it (RFC 9051 §7.1). */
async function folderIsGone(session: ImapSession): Promise<void> {
  const { folder } = session
  const view: UidView = folder.view
  await announceRemoved(session, view.ranges())
  folder.release()
  session.selected = null
  session.bye('The selected mailbox was deleted.')
}
