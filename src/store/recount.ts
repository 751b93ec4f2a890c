// Counts folders, threads and the room of mailboxes from their messages, and names those that show something else.

import { isDeepStrictEqual } from 'node:util'
import type { Reader } from '../db/db.ts'
import { accountTotals } from './accounts.ts'
import { countFolder, shownFolders } from './folders-recount.ts'
import { attachmentBytes, type CountedMessage, countedMessages } from './messages/recount-rows.ts'
import { shownThreads } from './threads/numbers.ts'

/** What shows a wrong count: ids of folders and threads, and of mailboxes whose quotas do. */
export interface WrongCounts {
  folders: string[]
  threads: string[]
  quotas: string[]
}

/** Reads everything on `reader`, which should see one moment. Holds the messages of one mailbox in memory. */
export async function recount(reader: Reader): Promise<WrongCounts> {
  const wrong: WrongCounts = { folders: [], threads: [], quotas: [] }
  const files = await attachmentBytes(reader)
  for (const { n, mailboxId, ...shown } of await accountTotals(reader)) {
    const messages = await countedMessages(reader, n)
    const usedBytes = sum([...messages.values()], ({ sizeBytes }) => sizeBytes)
    const counted = { usedBytes, messageCount: messages.size, attachmentBytes: files.get(n) ?? 0 }
    if (!isDeepStrictEqual(counted, shown)) wrong.quotas.push(mailboxId)
    for (const { n: folder, id, counts } of await shownFolders(reader, n)) {
      if (!isDeepStrictEqual(await countFolder(reader, folder, messages), counts)) wrong.folders.push(id)
    }
    const byThread = Map.groupBy(messages.values(), ({ thread }) => thread)
    for (const { n: thread, id, ...counts } of await shownThreads(reader, n)) {
      if (!isDeepStrictEqual(countThread(byThread.get(thread) ?? []), counts)) wrong.threads.push(id)
    }
  }
  return wrong
}

/** As `threads/recount.ts` does: what is outside Trash and Junk, unless all is inside. */
function countThread(messages: readonly CountedMessage[]): { messages: number; unread: number } {
  const outside = messages.filter(({ listed }) => listed === 1)
  const counted = outside.length > 0 ? outside : messages
  return { messages: counted.length, unread: counted.filter(({ seen }) => seen === 0).length }
}

function sum<T>(list: readonly T[], of: (one: T) => number): number {
  return list.reduce((total, one) => total + of(one), 0)
}
