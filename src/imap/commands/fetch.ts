// FETCH (RFC 9051 §6.4.5, RFC 3516, 7162, 8474, 8514, 8970, 9394): pages of messages, each kind of item read once per page.

import { mayDo } from '../../access/rights.ts'
import { countOf, type NumberRange, piecesOfRanges, rangesInclude } from '../../base/number-ranges.ts'
import type { FolderEntry } from '../../store/entries/folders-views.ts'
import { ENTRY_FLAGS, FLAG_KEYWORDS } from '../../store/entries/keywords.ts'
import type { UidRange } from '../../store/rows/folders-expunged.ts'
import { type FetchPlan, MessagePage, planFetch } from '../fetch/message-content.ts'
import type { Cursor } from '../grammar/cursor.ts'
import {
  type FetchItem,
  type FetchModifiers,
  type PlainItem,
  readFetchItems,
  readFetchModifiers,
} from '../grammar/fetch-items.ts'
import { ENTRIES_PAGE, FETCH_PAGE } from '../grammar/limits.ts'
import { partOfRanges } from '../grammar/partial.ts'
import { formatRanges, normalizeRanges, rangesOf, readSequenceSet, type SequenceSet } from '../grammar/sets.ts'
import { bad, damagedMessages, excessiveItems, no, ok, type TaggedAnswer } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { TimeSlice } from '../session/time-slice.ts'
import { entryFormats, sayEntries } from '../untagged/entry-lines.ts'
import { aheadOf } from '../untagged/fetch-ahead.ts'
import { FetchWriter, stringFormat } from '../untagged/fetch-writer.ts'
import { isUidOnly, uidsOfSet } from '../untagged/message-sets.ts'
import { noteReads } from '../untagged/program-reads.ts'
import { vanishedSince } from '../untagged/resync.ts'
import { labelsOf } from '../untagged/updates.ts'

interface FetchArguments {
  set: SequenceSet
  items: FetchItem[]
  modifiers: FetchModifiers
}

function readFetch(cursor: Cursor): FetchArguments {
  cursor.space()
  const set = readSequenceSet(cursor)
  cursor.space()
  return { set, items: readFetchItems(cursor), modifiers: readFetchModifiers(cursor) }
}

/** What the pages of one FETCH found. */
interface FetchOutcome {
  /** Messages that were sent, or left out although they are there. */
  written: number
  hasUnknownEncoding: boolean
  /** UIDs of messages whose content is damaged. */
  damaged: readonly number[]
  /** UIDs of messages of which too much would be read. */
  excessive: readonly number[]
}

/** Sets \Seen of a page before its texts are sent. @returns the entries after it, and the UIDs that it changed */
async function markSeen(
  session: ImapSession,
  entries: readonly FolderEntry[],
): Promise<{ entries: readonly FolderEntry[]; changed: Set<number> }> {
  const { app, folder, signedIn } = session
  const unseen = entries.filter(({ flags }) => (flags & ENTRY_FLAGS.seen) === 0).map(({ uid }) => uid)
  if (unseen.length === 0) return { entries, changed: new Set() }
  const change = { keywords: { add: [FLAG_KEYWORDS.seen] } }
  const result = await app.store.programs.flags.change(signedIn.account, { folder: folder.n, uids: unseen }, change)
  const after = new Map(result.entries.map((entry) => [entry.uid, entry]))
  for (const { uid, modSeq } of result.entries) folder.own.set(uid, modSeq)
  return { entries: entries.map((entry) => after.get(entry.uid) ?? entry), changed: new Set(after.keys()) }
}

/** Writes a page of entries, whose texts may set \Seen. */
async function writePage(
  session: ImapSession,
  page: readonly FolderEntry[],
  plan: FetchPlan,
  slice: TimeSlice,
): Promise<FetchOutcome> {
  const { folder } = session
  const setsSeen = plan.setsSeen && !folder.isReadOnly && mayDo(session.signedIn.access, 'change')
  const { entries, changed } = setsSeen ? await markSeen(session, page) : { entries: page, changed: NONE }
  const labels = plan.needs.labels ? labelsOf(session, entries) : new Map<number, string[]>()
  const formats = entryFormats(plan.items)
  if (formats !== null) {
    const written = sayEntries(session, entries, formats, labels)
    if (session.writer.isFull) await session.writer.ready()
    await slice.pause()
    session.assertRunning()
    return { written, hasUnknownEncoding: false, damaged: [], excessive: [] }
  }
  await noteReads(session, entries)
  const content = new MessagePage(session, entries, plan.needs, labels)
  return writeEntries(session, { entries, content, changed }, plan, slice)
}

const NONE: ReadonlySet<number> = new Set()

interface EntriesToWrite {
  entries: readonly FolderEntry[]
  content: MessagePage
  /** UIDs whose flags are sent as well. */
  changed: ReadonlySet<number>
}

async function writeEntries(
  session: ImapSession,
  { entries, content, changed }: EntriesToWrite,
  plan: FetchPlan,
  slice: TimeSlice,
): Promise<FetchOutcome> {
  const { folder } = session
  const writer = new FetchWriter(session, content, plan)
  const namesFlags = plan.items.some((item) => item.kind === 'plain' && item.name === 'FLAGS')
  let written = 0
  for (const entry of entries) {
    const sequence = folder.view.sequenceOf(entry.uid)
    if (sequence === 0) continue
    const isWritten = writer.write(sequence, entry, !namesFlags && changed.has(entry.uid))
    // Most messages are written at once: awaiting each would take as long as writing it.
    if (typeof isWritten === 'boolean' ? isWritten : await isWritten) written++
    if (session.writer.isFull) await session.writer.ready()
    if (slice.isOver) await slice.pause()
    session.assertRunning()
  }
  const { hasUnknownEncoding, damaged, excessive } = writer
  // Their flags were not sent with their texts: they are announced as those of other sessions.
  for (const uid of [...damaged, ...excessive]) if (changed.has(uid)) folder.own.delete(uid)
  return { written, hasUnknownEncoding, damaged, excessive }
}

/** Writes one message that may have been read with those of other commands. @returns null when it is to be read alone */
async function writeAhead(
  session: ImapSession,
  uids: readonly NumberRange[],
  plan: FetchPlan,
  slice: TimeSlice,
): Promise<FetchOutcome | null> {
  const [range] = uids
  // A message that becomes \Seen changes what was read.
  if (range === undefined || uids.length > 1 || range[0] !== range[1] || plan.setsSeen) return null
  const ahead = aheadOf(session).take(session, range[0], plan.needs)
  if (ahead === null) return null
  await noteReads(session, [ahead.entry])
  await session.app.db.durable(session.signedIn.account.n)
  return writeEntries(session, { entries: [ahead.entry], content: ahead.content, changed: NONE }, plan, slice)
}

/** Pages of entries: of UIDs, or of those among them that changed. @param size entries of a page */
async function* pagesOf(
  session: ImapSession,
  uids: readonly NumberRange[],
  changedSince: number | null,
  size = FETCH_PAGE,
): AsyncGenerator<FolderEntry[]> {
  const { app, folder, signedIn } = session
  const { views } = app.store.programs
  if (changedSince === null) {
    for (const ranges of piecesOfRanges(uids, size)) {
      const page = views.entries(folder.n, ranges.map(asUidRange), size)
      // Flags and modification numbers that a power failure could take back are not sent.
      await app.db.durable(session.signedIn.account.n)
      if (page.length > 0) yield page
    }
    return
  }
  for (let after = 0; ; ) {
    const page = await views.changedSince(signedIn.account, folder.n, changedSince, { after, limit: FETCH_PAGE })
    await app.db.durable(session.signedIn.account.n)
    const wanted = page.filter(({ uid }) => rangesInclude(uids, uid))
    if (wanted.length > 0) yield wanted
    if (page.length < FETCH_PAGE) return
    after = page.at(-1)!.uid
  }
}

function asUidRange([first, last]: NumberRange): UidRange {
  return { first, last }
}

/** Those of the UIDs whose messages changed after a modification number. */
async function uidsChanged(
  session: ImapSession,
  uids: readonly NumberRange[],
  changedSince: number,
): Promise<NumberRange[]> {
  const changed: number[] = []
  for await (const page of pagesOf(session, uids, changedSince)) for (const { uid } of page) changed.push(uid)
  return rangesOf(changed)
}

function sayVanished(session: ImapSession, set: SequenceSet, modSeq: number): void {
  const { folder } = session
  const uids = set === '$' ? session.saved : normalizeRanges(set, Math.max(folder.uidNext - 1, 0))
  const vanished = vanishedSince(session, { modSeq, uids })
  if (vanished.length > 0) session.say(`* VANISHED (EARLIER) ${formatRanges(vanished)}\r\n`)
}

async function fetchMessages(
  session: ImapSession,
  { set, items, modifiers }: FetchArguments,
  isUid: boolean,
): Promise<TaggedAnswer | undefined> {
  const { changedSince, vanished, partial } = modifiers
  if (vanished && !(isUid && session.enabled.has('QRESYNC'))) throw bad('VANISHED needs UID FETCH and QRESYNC.')
  if (partial !== null && !isUid) throw bad('PARTIAL needs UID FETCH.')
  const named = (name: PlainItem) => items.some((item) => item.kind === 'plain' && item.name === name)
  if (changedSince !== null || named('MODSEQ')) session.enableCondstore()
  const all = uidsOfSet(session, set, isUid)
  // A part is counted among the messages that changed: it is made of them.
  const changed = partial !== null && changedSince !== null ? await uidsChanged(session, all, changedSince) : null
  const uids = partial === null ? all : partOfRanges(changed ?? all, partial, countOf(changed ?? all))
  if (vanished) sayVanished(session, set, changedSince!)
  const extra: PlainItem[] = [
    ...(isUid && !isUidOnly(session) ? (['UID'] as const) : []),
    ...(changedSince !== null || (session.usesCondstore && named('FLAGS')) ? (['MODSEQ'] as const) : []),
  ]
  const plan = planFetch(items, extra, stringFormat(session))
  const wanted = countOf(uids)
  const slice = new TimeSlice()
  const ahead = changedSince === null ? await writeAhead(session, uids, plan, slice) : null
  // What is read now may be newer than what was read ahead.
  if (ahead === null) aheadOf(session).forget()
  const found = ahead ?? { written: 0, hasUnknownEncoding: false, damaged: [], excessive: [] }
  const damaged = [...found.damaged]
  const excessive = [...found.excessive]
  const size = entryFormats(plan.items) === null ? FETCH_PAGE : ENTRIES_PAGE
  const pages = ahead === null ? pagesOf(session, uids, changed === null ? changedSince : null, size) : []
  for await (const page of pages) {
    const outcome = await writePage(session, page, plan, slice)
    found.written += outcome.written
    damaged.push(...outcome.damaged)
    excessive.push(...outcome.excessive)
    session.progress.reached(found.written, changedSince === null ? wanted : null)
    found.hasUnknownEncoding ||= outcome.hasUnknownEncoding
  }
  if (damaged.length > 0) throw damagedMessages(damaged)
  if (excessive.length > 0) throw excessiveItems(excessive)
  if (found.hasUnknownEncoding) throw no('UNKNOWN-CTE', 'The encoding of a part is not known.')
  const areGone = changedSince === null && found.written < wanted
  return areGone ? ok('Some of the messages no longer exist.', 'EXPUNGEISSUED') : undefined
}

export const fetchCommand = command({
  name: 'FETCH',
  in: 'selected',
  needs: 'read',
  uid: true,
  usesNumbers: true,
  keepsNumbers: true,
  read: readFetch,
  run: (args, session, { isUid }) => fetchMessages(session, args, isUid),
})
