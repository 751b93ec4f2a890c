// SELECT, EXAMINE, UNSELECT and CLOSE (RFC 9051 §6.3.2, §6.3.3, §6.4.1, §6.4.2), with CONDSTORE and QRESYNC (RFC 7162 §3.2.5).

import { mayDo } from '../../access/rights.ts'
import type { NumberRange } from '../../base/number-ranges.ts'
import { type Cursor, ImapSyntaxError } from '../grammar/cursor.ts'
import { formatName, oldNameOf, readMailboxName } from '../grammar/names.ts'
import { readKnownUids } from '../grammar/sets.ts'
import { bad, no, ok, type TaggedAnswer } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { flagLines, KEYWORDS_NAMED, plainKeywords } from '../untagged/flag-texts.ts'
import { type NamedFolder, namedFolder } from '../untagged/folder-tree.ts'
import { assertNumbersAllowed, isUidOnly } from '../untagged/message-sets.ts'
import { resync } from '../untagged/resync.ts'
import { SelectedFolder } from '../views/selected.ts'

/** What the client knows of the folder. */
export interface KnownState {
  uidValidity: number
  modSeq: number
  /** UIDs the client has; null: all below UIDNEXT. */
  uids: readonly NumberRange[] | null
  /** Named with sequence numbers as well: an optimisation that is not needed here. */
  hasNumbers: boolean
}

interface SelectArguments {
  name: Buffer
  condstore: boolean
  known: KnownState | null
}

function readSelect(cursor: Cursor): SelectArguments {
  cursor.space()
  const args: SelectArguments = { name: readMailboxName(cursor), condstore: false, known: null }
  if (!cursor.skip(' ')) return args
  cursor.list(
    () => {
      if (cursor.skipWord('CONDSTORE')) args.condstore = true
      else if (cursor.skipWord('QRESYNC')) {
        cursor.space()
        args.known = readKnownState(cursor)
      } else throw new ImapSyntaxError('Unknown parameter.')
    },
    { most: 4 },
  )
  return args
}

/** `(uidvalidity modseq [known-uids] [(known-sequence-set known-uid-set)])`. */
function readKnownState(cursor: Cursor): KnownState {
  cursor.expect('(')
  const uidValidity = cursor.nzNumber()
  cursor.space()
  const modSeq = cursor.number64()
  let uids: NumberRange[] | null = null
  let hasNumbers = false
  while (cursor.skip(' ')) {
    if (!cursor.skip('(')) {
      uids = readKnownUids(cursor)
      continue
    }
    hasNumbers = true
    readKnownUids(cursor)
    cursor.space()
    readKnownUids(cursor)
    cursor.expect(')')
    break
  }
  cursor.expect(')')
  return { uidValidity, modSeq, uids, hasNumbers }
}

async function open(
  session: ImapSession,
  { name, condstore, known }: SelectArguments,
  isExamine: boolean,
): Promise<TaggedAnswer> {
  if (known !== null && !session.enabled.has('QRESYNC')) throw bad('Enable QRESYNC first.')
  assertNumbersAllowed(session, known?.hasNumbers === true)
  if (session.selected !== null) {
    leave(session)
    session.say('* OK [CLOSED] The previous mailbox is closed.\r\n')
  }
  if (condstore) session.enabled.add('CONDSTORE')
  const { path } = namedFolder(session, name)
  const isReadOnly = isExamine || !mayDo(session.signedIn.access, 'change')
  session.selected = await prepare(session, namedFolder(session, name), isReadOnly)
  await describe(session, path, name)
  if (known !== null && known.uidValidity === session.folder.uidValidity) await resync(session, known)
  return ok(isReadOnly ? 'Opened, read-only.' : 'Opened.', isReadOnly ? 'READ-ONLY' : 'READ-WRITE')
}

async function prepare(
  session: ImapSession,
  { path, folder }: NamedFolder,
  isReadOnly: boolean,
): Promise<SelectedFolder> {
  const { app, signedIn } = session
  const current = await app.views.current(folder.n)
  if (current === undefined) throw no('NONEXISTENT', 'There is no such mailbox.')
  await app.db.durable(session.signedIn.account.n)
  const keywords = plainKeywords(app.store.programs.mail.keywordsInUse(signedIn.account.n, KEYWORDS_NAMED))
  const release = app.views.hold(folder.n, current)
  const recent = recentOf(session, folder.n, current.uidNext, isReadOnly)
  return new SelectedFolder({ path, folder, isReadOnly, current, recent, keywords, release })
}

/** EXAMINE shows what is recent, SELECT takes it (RFC 3501 §6.3.2). */
function recentOf(
  { app, isRev2, signedIn }: ImapSession,
  n: number,
  uidNext: number,
  isReadOnly: boolean,
): NumberRange[] {
  if (isRev2) return []
  // Read now: other sessions may have taken them since the name was looked up.
  const stored = app.store.programs.views.status(signedIn.account, n)?.recentFrom ?? uidNext
  const from = app.views.recentFrom(n, stored)
  const first = isReadOnly ? from : app.views.takeRecent(n, from, uidNext)
  return first < uidNext ? [[first, uidNext - 1]] : []
}

async function describe(session: ImapSession, path: string, name: Buffer): Promise<void> {
  const { folder, app, isRev2 } = session
  const { view, modSeq, n } = folder
  session.say(`* ${view.count} EXISTS\r\n`)
  if (!isRev2) {
    session.say(`* ${folder.recentCount} RECENT\r\n`)
    const unseen = view.count === 0 || isUidOnly(session) ? null : await app.store.programs.views.firstUnseen(n)
    const sequence = unseen === null ? 0 : view.sequenceOf(unseen)
    if (sequence > 0) session.say(`* OK [UNSEEN ${sequence}] First unseen message.\r\n`)
  } else {
    const { utf8 } = session
    session.say('* LIST () "/" ', formatName(path, utf8), ...oldNameOf(path, name, utf8), '\r\n')
  }
  session.say(flagLines(session))
  session.say(`* OK [UIDVALIDITY ${folder.uidValidity}] UIDs are valid.\r\n`)
  session.say(`* OK [UIDNEXT ${folder.uidNext}] Next UID.\r\n`)
  session.say(`* OK [HIGHESTMODSEQ ${modSeq}] Highest modification number.\r\n`)
  session.say(`* OK [MAILBOXID (${folder.id})] Id of the mailbox.\r\n`)
}

/** Leaves the selected state without an announcement. */
export function leave(session: ImapSession): void {
  session.selected?.release()
  session.selected = null
  session.saved = []
}

export const select = command({
  name: 'SELECT',
  in: 'authenticated',
  needs: 'read',
  read: readSelect,
  run: (args, session) => open(session, args, false),
})

export const examine = command({
  name: 'EXAMINE',
  in: 'authenticated',
  needs: 'read',
  read: readSelect,
  run: (args, session) => open(session, args, true),
})

export const unselect = command({
  name: 'UNSELECT',
  in: 'selected',
  read: () => null,
  run(_, session) {
    leave(session)
    return undefined
  },
})

export const close = command({
  name: 'CLOSE',
  in: 'selected',
  read: () => null,
  async run(_, session) {
    const { folder, app, signedIn, signal } = session
    const mayExpunge = !folder.isReadOnly && mayDo(signedIn.access, 'write')
    leave(session)
    if (!mayExpunge) return undefined
    const { uids, modSeq } = await app.store.programs.moves.expunge(signedIn.account, folder.n, null, signal)
    return uids.length > 0 && session.usesCondstore ? ok('Closed.', `HIGHESTMODSEQ ${modSeq}`) : undefined
  },
})
