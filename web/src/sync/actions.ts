// Changes of threads: drawn at once, sent behind, undone with a sentence when the server refuses them.

import type { Api } from '../api/client.ts'
import { type ApiError, toApiError } from '../api/errors.ts'
import { changeThreads } from '../api/mail.ts'
import type { Thread, ThreadChange, ThreadsChanged } from '../api/types.ts'
import { type MessageBefore, readBefore, type Touched } from './before.ts'
import type { Patch } from './records.ts'
import type { ThreadList } from './thread-list.ts'

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 60_000

/** One thing that a person does to threads. */
export interface ThreadAction {
  ids: readonly string[]
  change: ThreadChange
  /** How a thread looks after it. */
  apply(thread: Thread): Thread
  /** What it changes, where it can be undone; null otherwise. */
  touched: Touched | null
  /** Whether threads are not in a list after it. */
  leaves(list: ThreadList): boolean
}

/** What actions change: the mailbox in the browser. */
export interface ActionTarget {
  api: Api
  addPatch(patch: Patch): void
  removePatch(patch: Patch): void
  openLists(): Iterable<ThreadList>
  /** Reads what changed at the server. */
  follow(): Promise<void>
}

/** Runs an action. @returns how its messages were before; null when that is not known @throws ApiError when it changed nothing */
export async function runAction(target: ActionTarget, action: ThreadAction): Promise<MessageBefore[] | null> {
  const ids = new Set(action.ids)
  const patch: Patch = { ids, apply: action.apply }
  target.addPatch(patch)
  const undo = [...target.openLists()].filter(action.leaves).map((list) => list.take(ids))
  try {
    const before = action.touched === null ? null : await readBefore(target.api, action.ids).catch(() => null)
    const changed = await send(target.api, action)
    if (changed.updated.length === 0) throw toApiError(new Error(changed.not_updated[0]?.message ?? ''))
    // The lists and records follow before the patch goes: nothing is drawn as it was.
    await target.follow().catch(() => null)
    return before
  } catch (error) {
    for (const putBack of undo) putBack()
    throw error
  } finally {
    target.removePatch(patch)
  }
}

/** Sends until the server answers. */
async function send(api: Api, { ids, change }: ThreadAction): Promise<ThreadsChanged> {
  for (let pause = FIRST_RETRY_MS; ; pause = Math.min(LONGEST_RETRY_MS, pause * 2)) {
    try {
      return await changeThreads(api, [...ids], change)
    } catch (error) {
      if (!isUnanswered(toApiError(error))) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

const isUnanswered = ({ code, status }: ApiError) => code === 'no_answer' || status >= 500
