// THREAD of a folder: by the keys that are kept of each header, or by the headers where some have none.

import { THREAD_MESSAGES } from '../grammar/limits.ts'
import type { SearchKey } from '../grammar/search-keys.ts'
import type { Ordered, ThreadAlgorithm } from '../search/hit-facts.ts'
import type { ViewPart } from '../search/page.ts'
import type { ImapSession } from '../session/session.ts'
import type { UidView } from '../views/views.ts'
import { HERE_MESSAGES, type SearchedFolder, searchFolder } from './run.ts'

/** How messages are threaded and named. */
export interface ThreadOptions {
  algorithm: ThreadAlgorithm
  isUid: boolean
}

/** The threads of the messages that match, as THREAD writes them. */
export async function threadText(
  session: ImapSession,
  folder: SearchedFolder,
  key: SearchKey,
  { algorithm, isUid }: ThreadOptions,
): Promise<Uint8Array> {
  const { app, signedIn } = session
  if (folder.view.count > HERE_MESSAGES) {
    const { hits } = await searchFolder(session, folder, key, { most: THREAD_MESSAGES, withoutModSeqs: true })
    const kept = isUid ? app.threadTexts.get(folder.n, algorithm, hits.uids) : undefined
    if (kept !== undefined) return kept
    const task = { folder: folder.n, algorithm, uids: hits.uids, view: isUid ? null : partOf(folder.view) }
    const text = await app.searcher.during(signedIn.account.n, () => app.searcher.folderThreads(task))
    await app.db.durable(signedIn.account.n)
    session.assertRunning()
    if (text !== null && isUid) app.threadTexts.set(folder.n, algorithm, { uids: hits.uids.slice(), text })
    if (text !== null) return text
  }
  const collects = { kind: 'thread', algorithm, isUid } as const
  const { ordered } = await searchFolder(session, folder, key, { collects, most: THREAD_MESSAGES })
  return (ordered as Extract<Ordered, { kind: 'thread' }>).text
}

function partOf(view: UidView): ViewPart {
  const ranges = view.ranges()
  return { ranges, sequences: ranges.map(([first]) => view.sequenceOf(first)) }
}
