// COPY and MOVE (RFC 9051 §6.4.7 and §6.4.8, RFC 4315, RFC 6851).

import { countOf } from '../../base/number-ranges.ts'
import type { CopiedUid } from '../../store/messages/moves.ts'
import { MailboxFull } from '../../store/messages/second-copies.ts'
import type { Cursor } from '../grammar/cursor.ts'
import { readMailboxName } from '../grammar/names.ts'
import { formatRanges, rangesOf, readSequenceSet, type SequenceSet } from '../grammar/sets.ts'
import { no, ok, type TaggedAnswer } from '../session/answers.ts'
import { command, type ImapSession } from '../session/session.ts'
import { namedFolder } from '../untagged/folder-tree.ts'
import { piecesOf, uidsOfSet } from '../untagged/message-sets.ts'

interface CopyArguments {
  set: SequenceSet
  name: Buffer
}

function readCopy(cursor: Cursor): CopyArguments {
  cursor.space()
  const set = readSequenceSet(cursor)
  cursor.space()
  return { set, name: readMailboxName(cursor) }
}

/** `COPYUID` of pairs; both sets are in the order of the source. */
function copyUidCode(uidValidity: number, pairs: readonly CopiedUid[]): string {
  const sorted = pairs.toSorted((a, b) => a.uid - b.uid)
  const [from, to] = [rangesOf(sorted.map(({ uid }) => uid)), rangesOf(sorted.map(({ newUid }) => newUid))]
  return `COPYUID ${uidValidity} ${formatRanges(from)} ${formatRanges(to)}`
}

async function copyMessages(session: ImapSession, { set, name }: CopyArguments, isUid: boolean): Promise<TaggedAnswer> {
  const { app, signedIn, folder, signal } = session
  const target = namedFolder(session, name, 'TRYCREATE').folder
  const ranges = uidsOfSet(session, set, isUid)
  const uids = [...piecesOf(ranges, Math.max(countOf(ranges), 1))].flat()
  if (uids.length === 0) return ok('Nothing to copy.')
  const pairs = await app.store.programs.copies
    .copy(
      signedIn.account,
      { from: folder.n, to: target.n, uids },
      {
        ...{ signal, reader: app.inspector },
        quotaBytes: (tx) => app.directory.mailboxes.byId(signedIn.account.mailboxId, tx)?.quotaBytes ?? 0,
        onProgress: (copied) => session.progress.reached(copied, uids.length),
      },
    )
    .catch((error: unknown) => {
      throw error instanceof MailboxFull ? no('OVERQUOTA', 'The mailbox is full.') : error
    })
  if (pairs.length === 0) throw no('EXPUNGEISSUED', 'The messages no longer exist.')
  return ok('Copied.', copyUidCode(target.uidValidity, pairs))
}

async function moveMessages(session: ImapSession, { set, name }: CopyArguments, isUid: boolean): Promise<TaggedAnswer> {
  const { app, signedIn, folder, signal } = session
  if (folder.isReadOnly) throw no('READ-ONLY', 'The mailbox was opened read-only.')
  const target = namedFolder(session, name, 'TRYCREATE').folder
  const ranges = uidsOfSet(session, set, isUid)
  const uids = [...piecesOf(ranges, Math.max(countOf(ranges), 1))].flat()
  const onBatch = (moved: CopiedUid[]) => {
    // RFC 6851 §4.3: before the messages disappear.
    if (moved.length > 0) session.say(`* OK [${copyUidCode(target.uidValidity, moved)}] Moved.\r\n`)
  }
  const moved = await app.store.programs.moves.move(
    signedIn.account,
    { from: folder.n, to: target.n, uids },
    { onBatch, signal },
  )
  await session.changes.announceOwn(
    moved.map(({ uid }) => uid),
    isUid,
  )
  if (moved.length === 0 && uids.length > 0) throw no('EXPUNGEISSUED', 'The messages no longer exist.')
  return ok('Moved.')
}

export const copy = command({
  name: 'COPY',
  in: 'selected',
  needs: 'change',
  uid: true,
  usesNumbers: true,
  read: readCopy,
  run: (args, session, { isUid }) => copyMessages(session, args, isUid),
})

export const move = command({
  name: 'MOVE',
  in: 'selected',
  needs: 'change',
  uid: true,
  usesNumbers: true,
  read: readCopy,
  run: (args, session, { isUid }) => moveMessages(session, args, isUid),
})
