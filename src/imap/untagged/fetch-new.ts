// Sends the data items that NOTIFY wants of new messages (RFC 5465 §5.2).

import { type NumberRange, piecesOfRanges } from '../../base/number-ranges.ts'
import { MessagePage, planFetch } from '../fetch/message-content.ts'
import type { FetchItem } from '../grammar/fetch-items.ts'
import { FETCH_PAGE } from '../grammar/limits.ts'
import type { ImapSession } from '../session/session.ts'
import { TimeSlice } from '../session/time-slice.ts'
import { FetchWriter, stringFormat } from './fetch-writer.ts'
import { noteReads } from './program-reads.ts'
import { labelsOf } from './updates.ts'

/** One FETCH for each message. \Seen is not set: the client did not ask for this message. */
export async function fetchNew(
  session: ImapSession,
  uids: readonly NumberRange[],
  items: readonly FetchItem[],
): Promise<void> {
  const { app, folder } = session
  const plan = planFetch(items, [], stringFormat(session))
  const slice = new TimeSlice()
  for (const ranges of piecesOfRanges(uids, FETCH_PAGE)) {
    const entries = app.store.programs.views.entries(
      folder.n,
      ranges.map(([first, last]) => ({ first, last })),
      FETCH_PAGE,
    )
    await app.db.durable(session.signedIn.account.n)
    await noteReads(session, entries)
    const labels = plan.needs.labels ? labelsOf(session, entries) : new Map<number, string[]>()
    const writer = new FetchWriter(session, new MessagePage(session, entries, plan.needs, labels), plan)
    for (const entry of entries) {
      const sequence = folder.view.sequenceOf(entry.uid)
      if (sequence > 0) await writer.write(sequence, entry, false)
      await session.writer.ready()
      await slice.pause()
      session.assertOpen()
    }
  }
}
