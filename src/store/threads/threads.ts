// Read access to threads: lists and single threads.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader } from '../../db/db.ts'
import { pageOf } from '../../db/page.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Address } from '../../mime/message.ts'
import { snoozesOf } from '../entries/snooze-rows.ts'
import { messageIdsOf, messageKeysOf, type ThreadMessageKey, threadKeywords } from '../entries/thread-messages.ts'
import { threadKey, threadNumbers, threadTotal } from '../entries/thread-rows.ts'
import { countEntries } from '../lists/count.ts'
import { dependsOnTime, type QueryChanges, steadyChanges } from '../lists/list-changes.ts'
import { changesOfThreads, indexOfThread } from '../lists/thread-changes.ts'
import { isIndexedPage, listThreadKeys, matchesThread, threadConditionOf } from '../lists/thread-list.ts'
import { summariesOf } from '../messages/rows.ts'
import { type Accounts, readState } from '../rows/accounts.ts'
import { stateTooOld } from '../rows/changes.ts'
import { folderTotal } from '../rows/folder-counts.ts'
import { type Folders, threadFolderIds } from '../rows/folders.ts'
import { PageCache } from '../rows/page-cache.ts'
import type { Account, MessageFilter, Page, SortDirection, Thread } from '../rows/records.ts'
import { keyOf, numberOf, type PageRequest } from '../rows/sql.ts'
import { dependsOnNow } from '../search/filter-term.ts'
import { openSearch } from '../search/search.ts'
import { ThreadCache } from './cache.ts'

export interface ThreadsDeps {
  db: Db
  clock: Clock
  accounts: Accounts
  folders: Folders
}

interface ThreadRow {
  n: number
  id: string
  subject: string
  listed: number
  message_count: number
  unread_count: number
  has_attachments: number
  last_message: number
  participants: string
}

const COLUMNS = 'n, id, subject, listed, message_count, unread_count, has_attachments, last_message, participants'

export class Threads {
  readonly #deps: ThreadsDeps
  readonly #pages: PageCache<Thread>
  readonly #cache: ThreadCache

  constructor(deps: ThreadsDeps) {
    this.#deps = deps
    this.#cache = new ThreadCache(deps.db)
    this.#pages = new PageCache(deps.accounts)
  }

  /** @throws ProductError invalid_parameter if `q` exceeds a limit (docs/design/mailbox.md §4) */
  async list(account: Account, filter: MessageFilter, page: PageRequest): Promise<Page<Thread>> {
    if (dependsOnNow(filter)) return this.#readPage(account, filter, page)
    return this.#pages.page(account, [filter, page], () => this.#readPage(account, filter, page))
  }

  async #readPage(account: Account, filter: MessageFilter, page: PageRequest): Promise<Page<Thread>> {
    const { db, accounts, folders, clock } = this.#deps
    const search = openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    const condition = threadConditionOf(filter)
    const keys = await listThreadKeys(
      isIndexedPage(search, page, condition) ? db.read : db.scan,
      search,
      page,
      condition,
    )
    const { items, next } = pageOf(keys, page.limit, keyOf, numberOf)
    // Read again: the page is cached under a sequence number that may be newer than the account of the caller.
    const current = accounts.byMailbox(account.mailboxId) ?? account
    return { items: this.#cache.threads(current, items, (missing) => this.#present(missing)), next }
  }

  /**
   * Length of a list: from the maintained totals where they answer it, else counted.
   * @returns null for a text search with too many matches to be counted
   * @throws ProductError invalid_parameter if `q` exceeds a limit
   */
  async total(account: Account, filter: MessageFilter): Promise<number | null> {
    const { db, folders, clock } = this.#deps
    const known = folderTotal(folders, account, filter, 'threads') ?? threadTotal(db.read, account.n, filter)
    if (known !== undefined) return known
    const search = openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    return countEntries(db.scan, search, 'threads', matchesThread('m.thread', threadConditionOf(filter)))
  }

  /**
   * Number of threads of a list before a thread; null if the list does not have it.
   * @param id `thr_…`
   * @throws ProductError invalid_parameter if `q` exceeds a limit
   */
  async indexOf(account: Account, filter: MessageFilter, direction: SortDirection, id: string): Promise<number | null> {
    const { db, folders, clock } = this.#deps
    const search = openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    return indexOfThread(db.scan, { search, condition: threadConditionOf(filter), direction }, id)
  }

  /**
   * Changes of a list since a state of the threads; see `Messages.queryChanges`.
   * @throws ProductError conflict if the state is unknown or too old, more threads changed, or the list depends on the current time;
   *   invalid_parameter if `q` exceeds a limit
   */
  async queryChanges(
    account: Account,
    filter: MessageFilter,
    direction: SortDirection,
    request: { since: string; most: number; upTo?: string },
  ): Promise<QueryChanges> {
    const { db, folders, clock, accounts } = this.#deps
    if (dependsOnNow(filter)) throw dependsOnTime()
    const since = readState('threads', request.since)
    if (since === null) throw stateTooOld('since_query_state')
    const upTo = request.upTo === undefined ? null : threadKey(db.read, account.n, request.upTo)
    const condition = threadConditionOf(filter)
    const { most } = request
    return steadyChanges({ accounts, account, type: 'threads', reader: db.read, since }, () => {
      const search = openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
      return changesOfThreads(db.scan, { search, condition, direction, since, most, upTo })
    })
  }

  /** Threads by id, in the order of the ids; unknown ones are left out. */
  byIds(account: Account, ids: readonly string[]): Thread[] {
    const { read } = this.#deps.db
    const numbers = threadNumbers(read, account.n, ids)
    const current = this.#deps.accounts.byNumber(account.n) ?? account
    const wanted = ids.flatMap((id) => numbers.get(id) ?? [])
    return this.#cache.threads(current, wanted, (missing) => this.#present(missing))
  }

  /** A thread with the ids of the messages its counts cover, oldest first. */
  get(
    account: Account,
    id: string,
    read: Reader = this.#deps.db.read,
  ): (Thread & { messageIds: string[] }) | undefined {
    const row = read.get<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE id = ? AND account = ?`, [id, account.n])
    if (!row) return undefined
    const [thread] = presentThreads(read, [row]).values()
    return thread && { ...thread, messageIds: messageIdsOf(read, row.n, row.listed === 1) }
  }

  /**
   * Keys of the messages that the thread's counts cover, by time of receipt: a page and one more.
   * @returns undefined if there is no such thread
   */
  messages(account: Account, id: string, page: PageRequest): ThreadMessageKey[] | undefined {
    const { read } = this.#deps.db
    const row = read.get<{ n: number; listed: number }>('SELECT n, listed FROM threads WHERE id = ? AND account = ?', [
      id,
      account.n,
    ])
    return row && messageKeysOf(read, row.n, row.listed === 1, page)
  }

  #present(numbers: readonly number[]): Map<number, Thread> {
    const { read } = this.#deps.db
    const list = placeholders(numbers)
    return presentThreads(read, read.all<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE n IN (${list})`, numbers))
  }
}

function presentThreads(reader: Reader, rows: readonly ThreadRow[]): Map<number, Thread> {
  const ids = new Map(rows.map((row) => [row.n, row.id]))
  const lastMessages = summariesOf(
    reader,
    rows.map((row) => row.last_message),
    () => ids,
  )
  const folders = threadFolderIds(
    reader,
    rows.map((row) => ({ n: row.n, listed: row.listed === 1 })),
  )
  const keywords = threadKeywords(reader, rows)
  const snoozes = snoozesOf(reader, [...ids.keys()])
  const threads = new Map<number, Thread>()
  for (const row of rows) {
    const lastMessage = lastMessages.get(row.last_message)
    if (lastMessage === undefined) continue
    const folderIds = folders.get(row.n) ?? []
    const snooze = snoozes.get(row.n)
    // A thread that was moved elsewhere waits no more.
    const snoozedUntil = snooze !== undefined && folderIds.includes(snooze.heldIn) ? snooze.until : null
    const details = { folderIds, keywords: keywords.get(row.n) ?? [], snoozedUntil }
    threads.set(row.n, presentThread(row, lastMessage, details))
  }
  return threads
}

function presentThread(
  row: ThreadRow,
  lastMessage: Thread['lastMessage'],
  details: Pick<Thread, 'folderIds' | 'keywords' | 'snoozedUntil'>,
): Thread {
  return {
    id: row.id,
    subject: row.subject,
    messageCount: row.message_count,
    unreadCount: row.unread_count,
    hasAttachments: row.has_attachments === 1,
    ...details,
    participants: JSON.parse(row.participants) as Address[],
    lastMessage,
  }
}
