// The messages of one thread.

import type { Reader } from '../../db/db.ts'
import { type Fragment, inFolder } from '../rows/folders.ts'
import type { Flags } from '../rows/records.ts'
import { afterCursor, every, type PageRequest, type RowKey } from '../rows/sql.ts'
import { keywordsOf, MUTED } from './keywords.ts'

/** Ids of the messages, oldest first; with `listed` without those only in Trash or Junk. @param folder only those in it */
export function messageIdsOf(reader: Reader, thread: number, listed: boolean, folder: number | null = null): string[] {
  const { sql, values } = isOf(thread, listed, folder)
  return reader
    .all<{ id: string }>(`SELECT id FROM messages m WHERE ${sql} ORDER BY received_at, n`, values)
    .map(({ id }) => id)
}

/** How many messages {@link messageIdsOf} returns. */
export function countMessagesOf(reader: Reader, thread: number, listed: boolean, folder: number | null): number {
  const { sql, values } = isOf(thread, listed, folder)
  return reader.get<{ count: number }>(`SELECT count(*) AS count FROM messages m WHERE ${sql}`, values)!.count
}

/** The newest messages of a thread that tell whether it is muted. */
const MUTED_LOOKED_AT = 50

/** Those of some threads of which one of the newest messages outside Trash and Junk has `$muted`: there the owner sees and removes it. */
export function mutedThreads(reader: Reader, threads: readonly number[]): Set<number> {
  if (threads.length === 0) return new Set()
  // First by index: most mailboxes have muted nothing, and the rows of messages are wide. AND leaves the order to SQLite, CASE does not.
  const rows = reader.all<{ thread: number }>(
    `SELECT t.n AS thread FROM json_each(?) j CROSS JOIN threads t ON t.n = j.value
     WHERE CASE WHEN EXISTS (SELECT 1 FROM message_keywords k WHERE k.account = t.account AND k.keyword = ?)
       THEN EXISTS (
         SELECT 1 FROM (SELECT keywords FROM messages WHERE thread = t.n AND listed = 1
                        ORDER BY received_at DESC, n DESC LIMIT ?)
         WHERE keywords LIKE ?)
       END`,
    [JSON.stringify([...new Set(threads)]), MUTED, MUTED_LOOKED_AT, `%"${MUTED}"%`],
  )
  return new Set(rows.map(({ thread }) => thread))
}

interface KeywordsRow extends Record<keyof Flags, number> {
  thread: number
  keywords: string
}

/** Distinct keywords of the messages that the counts of threads cover, sorted, by number of the thread. */
export function threadKeywords(
  reader: Reader,
  threads: readonly { n: number; listed: number }[],
): Map<number, string[]> {
  const rows = reader.all<KeywordsRow>(
    `SELECT m.thread, m.keywords, max(m.seen) AS seen, max(m.flagged) AS flagged, max(m.draft) AS draft,
       max(m.answered) AS answered
     FROM json_each(?) j CROSS JOIN messages m ON m.thread = j.value ->> 0 AND m.listed >= j.value ->> 1
     GROUP BY m.thread, m.keywords`,
    [JSON.stringify(threads.map(({ n, listed }) => [n, listed]))],
  )
  const sets = new Map<number, Set<string>>()
  for (const { thread, keywords, seen, flagged, draft, answered } of rows) {
    const flags = { seen: seen === 1, flagged: flagged === 1, draft: draft === 1, answered: answered === 1 }
    const set = sets.get(thread) ?? new Set()
    for (const keyword of keywordsOf(flags, JSON.parse(keywords) as string[])) set.add(keyword)
    sets.set(thread, set)
  }
  return new Map([...sets].map(([thread, set]) => [thread, [...set].sort()]))
}

/** Messages in a folder belong to it also where it is Trash or Junk. */
function isOf(thread: number, listed: boolean, folder: number | null): Fragment {
  if (folder === null) return { sql: `thread = ?${listed ? ' AND listed = 1' : ''}`, values: [thread] }
  return every([{ sql: 'm.thread = ?', values: [thread] }, inFolder('m.n', folder)])
}

/** The thread of the message whose number is in `column`, for a scalar subquery. */
export function threadOf(column: string): string {
  return `SELECT thread FROM messages WHERE n = ${column}`
}

/** Sort key and id of a message in a thread. */
export interface ThreadMessageKey extends RowKey {
  id: string
}

/** Keys of a page by time of receipt, and one more if there is one. */
export function messageKeysOf(reader: Reader, thread: number, listed: boolean, page: PageRequest): ThreadMessageKey[] {
  const conditions = every([
    { sql: `thread = ?${listed ? ' AND listed = 1' : ''}`, values: [thread] },
    afterCursor({ at: 'received_at', n: 'n' }, page),
  ])
  const { direction, limit } = page
  return reader.all<ThreadMessageKey>(
    `SELECT id, received_at AS at, n FROM messages WHERE ${conditions.sql}
     ORDER BY received_at ${direction}, n ${direction} LIMIT ?`,
    [...conditions.values, limit + 1],
  )
}
