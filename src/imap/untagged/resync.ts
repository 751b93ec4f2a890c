// What changed in a folder since the client knew it: VANISHED (EARLIER) and FETCH (RFC 7162 §3.2.5 and §3.2.6).

import { type NumberRange, rangesInclude } from '../../base/number-ranges.ts'
import { formatRanges } from '../grammar/sets.ts'
import type { ImapSession } from '../session/session.ts'
import { TimeSlice } from '../session/time-slice.ts'
import { intersectRanges, subtractRanges } from '../views/views.ts'
import { labelsOf, sayFlags } from './updates.ts'

export interface ResyncFrom {
  modSeq: number
  /** Limits the answer to these UIDs; null: all. */
  uids: readonly NumberRange[] | null
}

const PAGE = 500

/** UIDs that left the selected folder after a modification number, as far as the client may know them. */
export function vanishedSince(session: ImapSession, { modSeq, uids }: ResyncFrom): NumberRange[] {
  const { folder, app } = session
  const recorded = app.store.programs.views.expungedSince(folder.n, modSeq)
  // What is no longer recorded is answered with everything that is not there: RFC 7162 §3.2.5.1 allows it.
  const gone: NumberRange[] =
    recorded === null
      ? subtractRanges([[1, folder.uidNext - 1]], folder.view.ranges())
      : subtractRanges(
          recorded.map(({ first, last }): NumberRange => [first, last]),
          folder.view.ranges(),
        )
  return uids === null ? gone : intersectRanges(gone, uids)
}

/** Says what vanished, then what changed. */
export async function resync(session: ImapSession, from: ResyncFrom): Promise<void> {
  const { folder, app, signedIn } = session
  const slice = new TimeSlice()
  await slice.pause()
  const vanished = vanishedSince(session, from).filter(([first, last]) => first <= last)
  if (vanished.length > 0) session.say(`* VANISHED (EARLIER) ${formatRanges(vanished)}\r\n`)
  await slice.pause()
  for (let after = 0; ; ) {
    const page = await app.store.programs.views.changedSince(signedIn.account, folder.n, from.modSeq, {
      after,
      limit: PAGE,
    })
    await app.db.durable(session.signedIn.account.n)
    const labels = labelsOf(session, page)
    await slice.pause()
    for (const entry of page) {
      const sequence = folder.view.sequenceOf(entry.uid)
      const isWanted = from.uids === null || rangesInclude(from.uids, entry.uid)
      if (sequence > 0 && isWanted)
        sayFlags(session, sequence, entry, { labels: labels.get(entry.message) ?? [], withUid: true })
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last.uid
    await session.writer.ready()
  }
}
