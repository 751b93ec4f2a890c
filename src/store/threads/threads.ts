// Threads as they are read: lists and single ones.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader } from '../../db/db.ts'
import { pageOf } from '../../db/page.ts'
import type { Address } from '../../mime/message.ts'
import type { Accounts } from '../accounts.ts'
import { type Folders, threadFolderIds } from '../folders.ts'
import { PageCache } from '../kept-pages.ts'
import { summariesOf } from '../messages/rows.ts'
import { messageIdsOf, messageKeysOf, type ThreadMessageKey } from '../messages/thread-messages.ts'
import type { Account, MessageFilter, Page, Thread } from '../records.ts'
import { dependsOnNow } from '../search/ask.ts'
import { openSearch } from '../search/search.ts'
import { keyOf, numberOf, type PageRequest } from '../search/sql.ts'
import { isShort, listThreadKeys, wholeOf } from './list.ts'

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

  constructor(deps: ThreadsDeps) {
    this.#deps = deps
    this.#pages = new PageCache(deps.accounts)
  }

  /** @throws ProductError invalid_parameter when `q` is out of bounds (decisions §10.4) */
  async list(account: Account, filter: MessageFilter, cut: PageRequest): Promise<Page<Thread>> {
    if (dependsOnNow(filter)) return this.#read(account, filter, cut)
    return this.#pages.page(account, [filter, cut], () => this.#read(account, filter, cut))
  }

  async #read(account: Account, filter: MessageFilter, cut: PageRequest): Promise<Page<Thread>> {
    const { db, folders, clock } = this.#deps
    const search = await openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    const whole = wholeOf(filter)
    const places = await listThreadKeys(isShort(search, whole) ? db.read : db.scan, search, cut, whole)
    const { items, next } = pageOf(places, cut.limit, keyOf, numberOf)
    const threads = await this.#present(items)
    return { items: items.flatMap((n) => threads.get(n) ?? []), next }
  }

  /** The thread and the ids of the messages its counts cover, oldest first. */
  async get(account: Account, id: string): Promise<(Thread & { messageIds: string[] }) | undefined> {
    const { read } = this.#deps.db
    const row = await read.get<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE id = ? AND account = ?`, [
      id,
      account.n,
    ])
    if (!row) return undefined
    const [thread] = (await presentThreads(read, [row])).values()
    return thread && { ...thread, messageIds: await messageIdsOf(read, row.n, row.listed === 1) }
  }

  /**
   * The messages a thread's counts cover, by the time of receipt: as many as a page shows and one more.
   * @returns undefined when there is no such thread
   */
  async messages(account: Account, id: string, cut: PageRequest): Promise<ThreadMessageKey[] | undefined> {
    const { read } = this.#deps.db
    const row = await read.get<{ n: number; listed: number }>(
      'SELECT n, listed FROM threads WHERE id = ? AND account = ?',
      [id, account.n],
    )
    return row && messageKeysOf(read, row.n, row.listed === 1, cut)
  }

  async #present(numbers: readonly number[]): Promise<Map<number, Thread>> {
    if (numbers.length === 0) return new Map()
    const { read } = this.#deps.db
    const marks = numbers.map(() => '?').join(', ')
    return presentThreads(
      read,
      await read.all<ThreadRow>(`SELECT ${COLUMNS} FROM threads WHERE n IN (${marks})`, numbers),
    )
  }
}

async function presentThreads(reader: Reader, rows: readonly ThreadRow[]): Promise<Map<number, Thread>> {
  const ids = new Map(rows.map((row) => [row.n, row.id]))
  const lasts = await summariesOf(
    reader,
    rows.map((row) => row.last_message),
    async () => ids,
  )
  const folders = await threadFolderIds(
    reader,
    rows.map((row) => ({ n: row.n, listed: row.listed === 1 })),
  )
  const threads = new Map<number, Thread>()
  for (const row of rows) {
    const lastMessage = lasts.get(row.last_message)
    if (lastMessage) threads.set(row.n, presentThread(row, lastMessage, folders.get(row.n) ?? []))
  }
  return threads
}

function presentThread(row: ThreadRow, lastMessage: Thread['lastMessage'], folderIds: string[]): Thread {
  return {
    id: row.id,
    subject: row.subject,
    messageCount: row.message_count,
    unreadCount: row.unread_count,
    hasAttachments: row.has_attachments === 1,
    folderIds,
    participants: JSON.parse(row.participants) as Address[],
    lastMessage,
  }
}
