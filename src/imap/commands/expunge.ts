// EXPUNGE and UID EXPUNGE (RFC 9051 §6.4.3 and §6.4.9, RFC 4315 §2.1).

import { countOf } from '../../base/number-ranges.ts'
import { readSequenceSet, type SequenceSet } from '../grammar/sets.ts'
import { no, ok } from '../session/answers.ts'
import { command } from '../session/session.ts'
import { piecesOf, uidsOfSet } from '../untagged/message-sets.ts'

export const expunge = command<SequenceSet | null>({
  name: 'EXPUNGE',
  in: 'selected',
  needs: 'write',
  uid: true,
  read(cursor, isUid) {
    if (!isUid) return null
    cursor.space()
    return readSequenceSet(cursor)
  },
  async run(set, session, { isUid }) {
    const { app, signedIn, folder, signal } = session
    if (folder.isReadOnly) throw no('READ-ONLY', 'The mailbox was opened read-only.')
    const ranges = set === null ? null : uidsOfSet(session, set, isUid)
    const uids = ranges === null ? null : [...piecesOf(ranges, Math.max(countOf(ranges), 1))].flat()
    const gone = await app.store.programs.moves.expunge(signedIn.account, folder.n, uids, signal)
    await session.changes.announceOwn(gone.uids, isUid)
    return session.usesCondstore && gone.uids.length > 0
      ? ok('Expunged.', `HIGHESTMODSEQ ${gone.modSeq}`)
      : ok('Expunged.')
  },
})
