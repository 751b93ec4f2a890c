// Recomputes counts of folders and threads and storage totals from the messages, and reports those that differ.

import { isDeepStrictEqual } from 'node:util'
import type { Reader } from '../../db/db.ts'
import { shownThreads } from '../entries/thread-rows.ts'
import { accountTotals } from '../rows/accounts.ts'
import { countFolder, shownFolders } from '../rows/folders.ts'
import { attachmentBytes, type CountedMessage, countedMessages } from './check-rows.ts'

/** Ids of folders and threads with wrong counts, and of mailboxes with wrong storage totals. */
export interface WrongCounts {
  folders: string[]
  threads: string[]
  quotas: string[]
}

/**
 * @param reader should be one snapshot; holds the messages of one mailbox in memory at a time
 * @param onCounted is called with the number of messages of each mailbox, for progress
 */
export function recount(reader: Reader, onCounted: (messages: number) => void = () => {}): WrongCounts {
  const wrong: WrongCounts = { folders: [], threads: [], quotas: [] }
  const files = attachmentBytes(reader)
  for (const { n, mailboxId, ...stored } of accountTotals(reader)) {
    const messages = countedMessages(reader, n)
    const usedBytes = sum([...messages.values()], ({ sizeBytes }) => sizeBytes)
    const counted = { usedBytes, messageCount: messages.size, attachmentBytes: files.get(n) ?? 0 }
    if (!isDeepStrictEqual(counted, stored)) wrong.quotas.push(mailboxId)
    for (const { n: folder, id, counts } of shownFolders(reader, n)) {
      if (!isDeepStrictEqual(countFolder(reader, folder, messages), counts)) wrong.folders.push(id)
    }
    const byThread = Map.groupBy(messages.values(), ({ thread }) => thread)
    for (const { n: thread, id, ...counts } of shownThreads(reader, n)) {
      if (!isDeepStrictEqual(countThread(byThread.get(thread) ?? []), counts)) wrong.threads.push(id)
      byThread.delete(thread)
    }
    // Messages whose thread has no row.
    for (const thread of byThread.keys()) wrong.threads.push(`number ${thread}`)
    onCounted(messages.size)
  }
  return wrong
}

/** As `threads/recount.ts`: messages outside Trash and Junk, or all messages if there are none outside. */
function countThread(messages: readonly CountedMessage[]): { messages: number; unread: number } {
  const outside = messages.filter(({ listed }) => listed === 1)
  const counted = outside.length > 0 ? outside : messages
  return { messages: counted.length, unread: counted.filter(({ seen }) => seen === 0).length }
}

function sum<T>(list: readonly T[], value: (item: T) => number): number {
  return list.reduce((total, item) => total + value(item), 0)
}
