// Counts of threads and folders after edits: those of folders change by differences, and so do those of threads that keep their messages.

import type { Tx } from '../../db/db.ts'
import { deleteThreads, recountThread } from '../entries/recount.ts'
import { addUnreadOfThreads, type ThreadKey, threadsOf } from '../entries/thread-rows.ts'
import { type ThreadFolderCounts, threadFolderCounts, writeThreadFolders } from '../rows/folder-counts.ts'
import { threadMessages } from './edit-rows.ts'

/** Threads whose messages are read at once: a thread may have thousands. */
const THREADS_AT_ONCE = 50

/** What an edit of a message changes. Of a deleted message nothing is left after it. */
export interface CountedEdit {
  thread: number
  /** Whether it is outside Trash and Junk; null: it is deleted. */
  listed: { before: boolean; after: boolean | null }
  /** 1 for an unread message, 0 for a read one. */
  unread: { before: 0 | 1; after: 0 | 1 }
  /** Numbers of its folders. */
  folders: { before: readonly number[]; after: readonly number[] }
}

/** Threads of edited messages, and the folders whose counts changed. */
export interface CountedThreads {
  threads: { n: number; id: string; isDeleted: boolean }[]
  folders: number[]
}

/**
 * Writes the counts of the threads and folders of edited messages. What a thread shows depends on its messages outside Trash and Junk:
 * where these change, it is counted again from all its messages. To be called once for a unit of work, behind the edits.
 */
export function countEdits(tx: Tx, edits: readonly CountedEdit[]): CountedThreads {
  const known = threadsOf(tx, threadNumbers(edits))
  const again = new Set(threadNumbers(edits.filter(({ listed }) => listed.before !== listed.after)))
  const others = edits.filter(({ thread }) => !again.has(thread))
  addUnreadOfThreads(tx, unreadDifferences(others, known))
  const times = recountThreads(tx, [...again])
  const moved = edits.filter(isCounted)
  const before = threadFolderCounts(tx, [...new Set([...threadNumbers(moved), ...again])])
  const timeOf = (thread: number) => times.get(thread) ?? known.get(thread)!.lastReceivedAt
  return {
    threads: [...known].map(([n, { id }]) => ({ n, id, isDeleted: again.has(n) && !times.has(n) })),
    folders: writeThreadFolders(tx, before, countsAfter(before, moved, timeOf)),
  }
}

function threadNumbers(edits: readonly CountedEdit[]): number[] {
  return [...new Set(edits.map(({ thread }) => thread))]
}

function unreadDifferences(
  edits: readonly CountedEdit[],
  threads: ReadonlyMap<number, ThreadKey>,
): Map<number, number> {
  const differences = new Map<number, number>()
  for (const { thread, listed, unread } of edits) {
    // Counts cover the messages outside Trash and Junk, or all messages if there are none outside (docs/design/mailbox.md §5).
    if (threads.get(thread)?.listed !== listed.before) continue
    differences.set(thread, (differences.get(thread) ?? 0) + unread.after - unread.before)
  }
  return differences
}

/** Whether the counts of a folder change. */
function isCounted({ unread, folders: { before, after } }: CountedEdit): boolean {
  const isMoved = before.length !== after.length || before.some((folder) => !after.includes(folder))
  return isMoved || unread.before !== unread.after
}

/** @param timeOf the sort time of a thread, ms */
function countsAfter(
  before: readonly ThreadFolderCounts[],
  edits: readonly CountedEdit[],
  timeOf: (thread: number) => number,
): ThreadFolderCounts[] {
  const keyOf = (thread: number, folder: number) => `${thread} ${folder}`
  const counts = new Map(
    before.map((one) => [keyOf(one.thread, one.folder), { ...one, lastReceivedAt: timeOf(one.thread) }]),
  )
  const add = (thread: number, folder: number, messages: number, unread: number) => {
    const known = counts.get(keyOf(thread, folder))
    const one = known ?? { thread, folder, messages: 0, unread: 0, lastReceivedAt: timeOf(thread) }
    one.messages += messages
    one.unread += unread
    if (known === undefined) counts.set(keyOf(thread, folder), one)
  }
  for (const { thread, unread, folders } of edits) {
    for (const folder of folders.before) add(thread, folder, -1, -unread.before)
    for (const folder of folders.after) add(thread, folder, 1, unread.after)
  }
  return [...counts.values()].filter(({ messages }) => messages > 0)
}

/** Writes threads as their messages are; those without messages are deleted. @returns the sort times of the others, ms */
function recountThreads(tx: Tx, threads: readonly number[]): Map<number, number> {
  const times = new Map<number, number>()
  for (let at = 0; at < threads.length; at += THREADS_AT_ONCE) {
    const messages = threadMessages(tx, threads.slice(at, at + THREADS_AT_ONCE))
    for (const [thread, list] of messages) times.set(thread, recountThread(tx, thread, list))
  }
  deleteThreads(
    tx,
    threads.filter((thread) => !times.has(thread)),
  )
  return times
}
