// Changes of threads: drawn at once, sent behind, undone with a sentence when the server refuses them.

import type { Api } from '../api/client.ts'
import { type ApiError, toApiError } from '../api/errors.ts'
import { changeThreads } from '../api/mail.ts'
import type { Thread, ThreadChange, ThreadsChanged } from '../api/types.ts'
import type { Patch } from './records.ts'
import type { ThreadList } from './thread-list.ts'

/** Threads that one request changes. */
const BATCH = 100
const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

/** One thing that a person does to threads. */
export interface ThreadAction {
  ids: readonly string[]
  /** What the server does to many threads at once; or a request for each thread. */
  change: ThreadChange | ThreadRequest
  /** How a thread looks after it. */
  apply(thread: Thread): Thread
  /** Whether threads are not in a list after it. */
  leaves(list: ThreadList): boolean
}

/** A request for one thread, which may be repeated. @returns the id that undoes it; null when nothing can be undone @throws ApiError */
export type ThreadRequest = (api: Api, id: string) => Promise<string | null>

/** What actions change: the mailbox in the browser. */
export interface ActionTarget {
  api: Api
  addPatch(patch: Patch): void
  removePatch(patch: Patch): void
  openLists(): Iterable<ThreadList>
  /** Reads what changed at the server. */
  follow(): Promise<void>
}

/** What an action did. */
export interface ActionOutcome {
  /** Ids that undo it at the server, in the order of its requests. */
  undoIds: string[]
  /** Threads that the server did not change. */
  refused: number
}

/** Runs an action. @throws ApiError when it changed nothing */
export async function runAction(target: ActionTarget, action: ThreadAction): Promise<ActionOutcome> {
  const ids = new Set(action.ids)
  const patch: Patch = { ids, apply: action.apply }
  target.addPatch(patch)
  const undo = [...target.openLists()].filter(action.leaves).map((list) => list.take(ids))
  try {
    const outcome = await sendAll(target.api, action)
    // The lists and records follow before the patch goes: nothing is drawn as it was.
    await target.follow().catch(() => null)
    // Lists took these out, and no change of the server puts them back.
    if (outcome.refused > 0) await Promise.all([...target.openLists()].map((list) => list.reload().catch(() => null)))
    return outcome
  } catch (error) {
    for (const putBack of undo) putBack()
    throw error
  } finally {
    target.removePatch(patch)
  }
}

/** One request after the other: the earlier ones stay done where a later one is refused. @throws ApiError when nothing was changed */
async function sendAll(api: Api, { ids, change }: ThreadAction): Promise<ActionOutcome> {
  const undoIds: string[] = []
  let updated = 0
  let refusal: unknown = null
  const size = typeof change === 'function' ? 1 : BATCH
  for (let at = 0; at < ids.length && refusal === null; at += size) {
    try {
      const changed = await send(api, ids.slice(at, at + size), change)
      updated += changed.updated.length
      if (changed.undo_id !== null) undoIds.push(changed.undo_id)
      if (updated === 0) refusal = new Error(changed.not_updated[0]?.message ?? '')
    } catch (error) {
      refusal = error
    }
  }
  if (updated === 0) throw toApiError(refusal)
  return { undoIds, refused: ids.length - updated }
}

type Sent = Pick<ThreadsChanged, 'not_updated' | 'undo_id'> & { updated: readonly string[] }

/** Sends until the server answers: the key lets it happen once. */
async function send(api: Api, ids: readonly string[], change: ThreadAction['change']): Promise<Sent> {
  const key = crypto.randomUUID()
  for (let pause = FIRST_RETRY_MS; ; pause = Math.min(LONGEST_RETRY_MS, pause * 2)) {
    try {
      if (typeof change !== 'function') return await changeThreads(api, [...ids], change, key)
      return { updated: ids, not_updated: [], undo_id: await change(api, ids[0]!) }
    } catch (error) {
      if (!isUnanswered(toApiError(error))) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

const isUnanswered = ({ code, status }: ApiError) => code === 'no_answer' || status >= 500
