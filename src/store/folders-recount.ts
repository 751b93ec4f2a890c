// What a recount reads of folders: what they say they hold, and what is in them.

import type { Reader } from '../db/db.ts'

export interface FolderCounts {
  messages: number
  unread: number
  threads: number
  unreadThreads: number
}

/** The folders of an account with the counts they show. */
export async function shownFolders(
  reader: Reader,
  account: number,
): Promise<{ n: number; id: string; counts: FolderCounts }[]> {
  const rows = await reader.all<FolderCounts & { n: number; id: string }>(
    `SELECT n, id, total_messages AS messages, unread_messages AS unread, total_threads AS threads,
       unread_threads AS unreadThreads
     FROM folders WHERE account = ? ORDER BY n`,
    [account],
  )
  return rows.map(({ n, id, ...counts }) => ({ n, id, counts }))
}

/** Counts the messages of a folder. @param messages those of its account by their key */
export async function countFolder(
  reader: Reader,
  folder: number,
  messages: ReadonlyMap<number, { thread: number; seen: number }>,
): Promise<FolderCounts> {
  const threads = new Set<number>()
  const unreadThreads = new Set<number>()
  const rows = await reader.all<{ message: number }>('SELECT message FROM message_folders WHERE folder = ?', [folder])
  let unread = 0
  for (const { message } of rows) {
    const known = messages.get(message)
    if (known === undefined) continue
    threads.add(known.thread)
    if (known.seen === 1) continue
    unread++
    unreadThreads.add(known.thread)
  }
  return { messages: rows.length, unread, threads: threads.size, unreadThreads: unreadThreads.size }
}
