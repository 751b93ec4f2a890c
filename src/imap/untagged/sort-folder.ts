// SORT of a folder by its kept order: the hits of the search in the order in which all messages of the folder are.

import { SORT_MESSAGES } from '../grammar/limits.ts'
import type { SearchKey } from '../grammar/search-keys.ts'
import type { Ordered } from '../search/hit-facts.ts'
import { SearchHits } from '../search/hits.ts'
import { keptCriteria } from '../search/keyed-folders.ts'
import type { SortCriterion } from '../search/sort.ts'
import type { ImapSession } from '../session/session.ts'
import { TimeSlice } from '../session/time-slice.ts'
import { piecesOf } from './message-sets.ts'
import { type SearchedFolder, searchFolder } from './run.ts'

/** Smaller folders are sorted each time. */
export const ORDERED_FROM = 500
/** UIDs between two looks at the clock. */
const AT_ONCE = 5000
const ALL: SearchKey = { kind: 'all' }

export async function sortedByOrder(
  session: ImapSession,
  folder: SearchedFolder,
  key: SearchKey,
  criteria: readonly SortCriterion[],
): Promise<SearchHits> {
  const { app, signedIn } = session
  const inSearchThread = async <T>(work: () => Promise<T>): Promise<T> => {
    const result = await app.searcher.during(signedIn.account.n, work)
    await app.db.durable(signedIn.account.n)
    session.assertRunning()
    return result
  }
  const { hits } = await searchFolder(session, folder, key, { most: SORT_MESSAGES, withoutModSeqs: true })
  const { view } = folder
  const above = (uid: number) => [...piecesOf(view.within([[uid + 1, 2 ** 32 - 1]]), view.count + 1)].flat()
  const order = await app.sortOrders.of(
    folder.n,
    criteria,
    { lastUid: view.lastUid, count: view.count, above },
    {
      async order() {
        const kept = view.count > SORT_MESSAGES ? null : keptCriteria(criteria)
        const order =
          kept === null
            ? null
            : await inSearchThread(() => app.searcher.folderOrder({ folder: folder.n, criteria: kept }))
        if (order !== null) return order
        const options = { collects: { kind: 'sort', criteria, key: ALL }, most: SORT_MESSAGES } as const
        const { ordered } = await searchFolder(session, folder, ALL, options)
        return (ordered as Extract<Ordered, { kind: 'sort' }>).uids
      },
      async insert(known, fresh) {
        const task = { folder: folder.n, criteria, order: Uint32Array.from(known), fresh }
        return inSearchThread(() => app.searcher.insert(task))
      },
    },
  )
  return SearchHits.ofUids(await inOrder(session, folder, hits, order))
}

/** The hits in the order of the folder. */
async function inOrder(
  session: ImapSession,
  { view }: SearchedFolder,
  hits: SearchHits,
  order: Uint32Array,
): Promise<Uint32Array> {
  const slice = new TimeSlice()
  const isHit = new Uint8Array(view.count + 1)
  const each = async (uids: Uint32Array, run: (uid: number) => void) => {
    for (let at = 0; at < uids.length; at += AT_ONCE) {
      for (const uid of uids.subarray(at, at + AT_ONCE)) run(uid)
      await slice.pause()
      session.assertRunning()
    }
  }
  await each(hits.uids, (uid) => (isHit[view.sequenceOf(uid)] = 1))
  // UIDs that are not in the view have the sequence number 0.
  isHit[0] = 0
  const sorted = new Uint32Array(hits.length)
  let count = 0
  await each(order, (uid) => {
    if (isHit[view.sequenceOf(uid)] === 1) sorted[count++] = uid
  })
  return sorted.subarray(0, count)
}
