// Orders and threads of folders from the keys that are kept of each header, and UIDs by their subjects: in the search thread.

import { isOrderKey, type OrderCriterion } from '../../store/entries/folders-orders.ts'
import type { EntryCondition, MatchingUids } from '../../store/entries/folders-search.ts'
import type { FolderViews } from '../../store/entries/folders-views.ts'
import type { UidRange } from '../../store/rows/folders-expunged.ts'
import type { ThreadAlgorithm } from './hit-facts.ts'
import { sequenceIn, type ViewPart } from './page.ts'
import type { SortCriterion } from './sort.ts'
import { type ThreadMessage, threadByOrderedSubject, threadByReferences } from './thread.ts'

type Views = Pick<FolderViews, 'inOrder' | 'threadRows' | 'matchingUids'>

/** Plain values, as those of all tasks: they are cloned to the search thread. */
export interface FolderOrderTask {
  folder: number
  criteria: readonly OrderCriterion[]
}

export interface FolderThreadsTask {
  folder: number
  algorithm: ThreadAlgorithm
  /** The messages to thread, ascending. */
  uids: Uint32Array
  /** The view of the session when the answer has sequence numbers; null for UIDs. */
  view: ViewPart | null
}

export interface MatchTask {
  folder: number
  condition: EntryCondition
  uids: UidRange
}

/** @returns null when not all criteria have kept keys */
export function keptCriteria(criteria: readonly SortCriterion[]): OrderCriterion[] | null {
  const kept = criteria.flatMap(({ key, isReverse }) => (isOrderKey(key) ? [{ key, isReverse }] : []))
  return kept.length === criteria.length ? kept : null
}

/** All UIDs of a folder in order. @returns null when keys are missing: the headers are to be read */
export function folderOrder(views: Views, { folder, criteria }: FolderOrderTask): Uint32Array<ArrayBuffer> | null {
  return views.inOrder(folder, criteria)
}

/** The text of THREAD. @returns null when keys are missing: the headers are to be read */
export function folderThreads(views: Views, task: FolderThreadsTask): Uint8Array<ArrayBuffer> | null {
  const { algorithm, uids } = task
  if (uids.length === 0) return new Uint8Array(0)
  const thread = algorithm === 'REFERENCES' ? threadByReferences : threadByOrderedSubject
  try {
    return new TextEncoder().encode(thread(keyedMessages(views, task)))
  } catch (error) {
    if (error === KEYS_MISSING) return null
    throw error
  }
}

const KEYS_MISSING = new Error('A message has no keys.')

/** Read as they are linked: a list of all would be as large as the threads. @throws KEYS_MISSING */
function* keyedMessages(views: Views, { folder, uids, view }: FolderThreadsTask): Generator<ThreadMessage> {
  let next = 0
  for (const row of views.threadRows(folder, { first: uids[0]!, last: uids.at(-1)! })) {
    const { uid, date, subject, isReply, threadIds } = row
    while (uids[next]! < uid) next++
    if (uids[next] !== uid) continue
    if (subject === null) throw KEYS_MISSING
    const number = view === null ? uid : sequenceIn(view, uid)
    yield { number, date, subject, isReply: isReply === 1, threadIds }
  }
}

export function matchingInFolder(views: Views, { folder, condition, uids }: MatchTask): Promise<MatchingUids> {
  return views.matchingUids(folder, condition, uids)
}
