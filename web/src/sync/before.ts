// How messages were before a change of their threads, so that exactly this can be put back.

import type { Api } from '../api/client.ts'
import { changeMessages, readMessagePlaces } from '../api/mail.ts'

/** What a change touches: folders, or flags. Only this is put back. */
export type Touched = 'folders' | 'flags'

export interface MessageBefore {
  id: string
  folder_ids: readonly string[]
  keywords: readonly string[]
}

/** Flags that are changed by hand. */
const FLAGS = ['$seen', '$flagged'] as const
const BATCH = 100

/** @throws ApiError */
export async function readBefore(api: Api, threadIds: readonly string[]): Promise<MessageBefore[]> {
  const parts = await Promise.all(threadIds.map((id) => readMessagePlaces(api, id)))
  return parts.flat().map(({ id, folder_ids, keywords }) => ({ id, folder_ids, keywords }))
}

/** @throws ApiError; messages that are gone are left out */
export async function putBack(api: Api, before: readonly MessageBefore[], touched: Touched): Promise<void> {
  for (const group of groupsOf(before, touched)) {
    const [first] = group
    const change =
      touched === 'folders'
        ? { set_folder_ids: [...first!.folder_ids] }
        : {
            add_keywords: FLAGS.filter((flag) => first!.keywords.includes(flag)),
            remove_keywords: FLAGS.filter((flag) => !first!.keywords.includes(flag)),
          }
    const ids = group.map(({ id }) => id)
    for (let at = 0; at < ids.length; at += BATCH) await changeMessages(api, ids.slice(at, at + BATCH), change)
  }
}

/** Messages that were alike are one request. */
function groupsOf(before: readonly MessageBefore[], touched: Touched): MessageBefore[][] {
  const groups = new Map<string, MessageBefore[]>()
  for (const message of before) {
    const flags = FLAGS.filter((flag) => message.keywords.includes(flag))
    const key = (touched === 'folders' ? message.folder_ids : flags).join()
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [message])
    else group.push(message)
  }
  return [...groups.values()]
}
