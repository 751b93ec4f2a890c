// STORE (RFC 9051 §6.4.6, RFC 7162 §3.1.3): flags of messages, in units of work of 500.

import { countOf } from '../../base/number-ranges.ts'
import { FLAG_KEYWORDS, type SetChange } from '../../store/entries/keywords.ts'
import { type Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import { type FlagSet, readFlags } from '../grammar/flags.ts'
import { STORE_PIECE } from '../grammar/limits.ts'
import { formatRanges, rangesOf, readSequenceSet, type SequenceSet } from '../grammar/sets.ts'
import { no, ok, type TaggedAnswer } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { fetchName, isUidOnly, piecesOf, uidsOfSet } from '../untagged/message-sets.ts'
import { labelsOf, sayFlags } from '../untagged/updates.ts'

interface StoreArguments {
  set: SequenceSet
  unchangedSince: number | null
  mode: 'set' | 'add' | 'remove'
  isSilent: boolean
  flags: FlagSet
}

function readStore(cursor: Cursor): StoreArguments {
  cursor.space()
  const set = readSequenceSet(cursor)
  cursor.space()
  let unchangedSince: number | null = null
  if (cursor.skip('(')) {
    if (!cursor.skipWord('UNCHANGEDSINCE')) throw new ImapSyntaxError('Unknown modifier.')
    cursor.space()
    unchangedSince = cursor.number64()
    cursor.expect(')')
    cursor.space()
  }
  const mode = cursor.skip('+') ? 'add' : cursor.skip('-') ? 'remove' : 'set'
  const item = cursor.word()
  if (item !== 'FLAGS' && item !== 'FLAGS.SILENT') throw new ImapSyntaxError('Unknown data item.')
  cursor.space()
  return { set, unchangedSince, mode, isSilent: item === 'FLAGS.SILENT', flags: readFlags(cursor) }
}

/** Thunderbird's Junk and NonJunk teach the filter as $Junk and $NotJunk do; each takes the other back (docs/design/mail-programs.md §2.3). */
function withJunkPairs(keywords: readonly string[]): string[] {
  const pairs: Record<string, string> = { junk: '$junk', nonjunk: '$notjunk' }
  return [
    ...new Set(keywords.flatMap((keyword) => [keyword, ...(pairs[keyword] === undefined ? [] : [pairs[keyword]])])),
  ]
}

/** Keywords of a flag list as the store has them: system flags are keywords there. */
export function storedKeywords({ system, keywords }: FlagSet): string[] {
  const flags = system.flatMap((flag) => (flag === 'deleted' ? [] : [FLAG_KEYWORDS[flag]]))
  return [...flags, ...withJunkPairs(keywords)]
}

function changeOf({ mode, flags }: StoreArguments): { keywords?: SetChange; deleted?: boolean } {
  const keywords = storedKeywords(flags)
  const isDeletedNamed = flags.system.includes('deleted')
  if (mode === 'set') return { keywords: { set: keywords }, deleted: isDeletedNamed }
  return {
    ...(keywords.length > 0 ? { keywords: mode === 'add' ? { add: keywords } : { remove: keywords } } : {}),
    ...(isDeletedNamed ? { deleted: mode === 'add' } : {}),
  }
}

/** What the pieces of one STORE found. */
interface StoreOutcome {
  modified: number[]
  missing: number
  refused: number
}

async function storePiece(
  session: ImapSession,
  args: StoreArguments,
  uids: number[],
  isUid: boolean,
): Promise<StoreOutcome> {
  const { app, folder, signedIn } = session
  const since = args.unchangedSince === null ? {} : { unchangedSince: args.unchangedSince }
  const target = { folder: folder.n, uids, ...since }
  const change = { ...changeOf(args), teaches: 'mail_program' } as const
  const result = await app.store.programs.flags.change(signedIn.account, target, change)
  const labels = args.isSilent ? new Map<number, string[]>() : labelsOf(session, result.entries)
  for (const entry of result.entries) {
    const sequence = folder.view.sequenceOf(entry.uid)
    if (sequence === 0) continue
    folder.own.set(entry.uid, entry.modSeq)
    if (!args.isSilent) sayFlags(session, sequence, entry, { labels: labels.get(entry.message) ?? [], withUid: isUid })
    // RFC 7162 §3.1.3: the new number is sent even when the flags are not.
    else if (session.usesCondstore && entry.modSeq === result.modSeq) {
      const uid = isUidOnly(session) ? '' : `UID ${entry.uid} `
      session.say(`${fetchName(session, sequence, entry.uid)} (${uid}MODSEQ (${entry.modSeq}))\r\n`)
    }
  }
  await session.writer.ready()
  return { modified: result.modified, missing: result.missing.length, refused: result.refused.length }
}

async function storeFlags(
  session: ImapSession,
  args: StoreArguments,
  isUid: boolean,
): Promise<TaggedAnswer | undefined> {
  if (session.folder.isReadOnly) throw no('READ-ONLY', 'The mailbox was opened read-only.')
  if (args.unchangedSince !== null) session.enableCondstore()
  const uids = uidsOfSet(session, args.set, isUid)
  const found: StoreOutcome = { modified: [], missing: 0, refused: 0 }
  let done = 0
  for (const piece of piecesOf(uids, STORE_PIECE)) {
    session.assertRunning()
    const { modified, missing, refused } = await storePiece(session, args, piece, isUid)
    found.modified.push(...modified)
    found.missing += missing
    done += piece.length
    session.progress.reached(done, countOf(uids))
    found.refused += refused
  }
  if (found.modified.length > 0) return modifiedAnswer(session, found.modified, isUid)
  if (found.refused > 0) throw no('LIMIT', 'A message has at most 100 keywords.')
  // The others were changed (RFC 2180 §4.2.1); Dovecot answers OK as well.
  return found.missing > 0 && !isUid ? ok('Some of the messages no longer exist.', 'EXPUNGEISSUED') : undefined
}

/** `[MODIFIED …]` in the numbers of the command. */
function modifiedAnswer(session: ImapSession, modified: readonly number[], isUid: boolean): TaggedAnswer {
  const uids = rangesOf(modified.toSorted((a, b) => a - b))
  const set = isUid ? uids : session.folder.view.sequencesOf(uids)
  return { condition: 'OK', code: `MODIFIED ${formatRanges(set)}`, text: 'Some messages were changed meanwhile.' }
}

export const store = command({
  name: 'STORE',
  in: 'selected',
  needs: 'change',
  uid: true,
  usesNumbers: true,
  keepsNumbers: true,
  read: readStore,
  run: (args, session, { isUid }) => storeFlags(session, args, isUid),
})
