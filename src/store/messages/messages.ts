// Read access to messages: lists, single messages, bodies and headers.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader } from '../../db/db.ts'
import { pageOf } from '../../db/page.ts'
import { placeholders } from '../../db/sql-text.ts'
import { type DecodedBodies, type DecodedField, type ReadBytes, readBodies, readHeader } from '../../mime/view.ts'
import type { Blobs } from '../content/blobs.ts'
import { type Contact, readContacts } from '../entries/folders-contacts.ts'
import { threadsNaming } from '../entries/join-threads.ts'
import { threadIdsOf } from '../entries/thread-rows.ts'
import { countEntries, countMessages, countTotals, type MessageCount } from '../lists/count.ts'
import { dependsOnTime, type QueryChanges, steadyChanges } from '../lists/list-changes.ts'
import { changesOfList } from '../lists/message-changes.ts'
import {
  isIndexedPage,
  listMessageKeys,
  type MessageOrder,
  type MessagePageRequest,
  SORT_KEY,
} from '../lists/message-list.ts'
import { type Accounts, readState } from '../rows/accounts.ts'
import { stateTooOld } from '../rows/changes.ts'
import { folderTotal } from '../rows/folder-counts.ts'
import type { Folders } from '../rows/folders.ts'
import { PageCache } from '../rows/page-cache.ts'
import type { Account, MessageDetail, MessageFilter, MessageSummary, Page } from '../rows/records.ts'
import { keyOf, numberOf, type RowKey } from '../rows/sql.ts'
import { dependsOnNow, filterTerm } from '../search/filter-term.ts'
import { hasOlderWithKey } from '../search/hits.ts'
import { folderReferencesIn, openSearch } from '../search/search.ts'
import { addressKey } from '../search/text.ts'
import { type MessageAuthor, messageAuthors, threadAuthors } from './authors.ts'
import { readDetail, type StoredBodies, type StoredStructure, storedBodies, storedStructure } from './detail.ts'
import { type OriginalMessage, originalOf } from './original.ts'
import { summariesOf } from './rows.ts'
import { type Exchange, senderHistory } from './sender-history.ts'
import { type Snippet, snippetsOf } from './snippets.ts'

export interface MessagesDeps {
  db: Db
  clock: Clock
  accounts: Accounts
  blobs: Blobs
  folders: Folders
}

export class Messages {
  readonly #deps: MessagesDeps
  readonly #pages: PageCache<MessageSummary>

  constructor(deps: MessagesDeps) {
    this.#deps = deps
    this.#pages = new PageCache(deps.accounts)
  }

  /** @throws ProductError invalid_parameter if `q` exceeds a limit (docs/design/mailbox.md §4) */
  async list(account: Account, filter: MessageFilter, page: MessagePageRequest): Promise<Page<MessageSummary>> {
    if (dependsOnNow(filter)) return this.#readPage(account, filter, page)
    return this.#pages.page(account, [filter, page], () => this.#readPage(account, filter, page))
  }

  async #readPage(account: Account, filter: MessageFilter, page: MessagePageRequest): Promise<Page<MessageSummary>> {
    const { db, folders, clock } = this.#deps
    const search = openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    const keys = await listMessageKeys(isIndexedPage(search, page) ? db.read : db.scan, search, page)
    const { items, next } = pageOf(keys, page.limit, keyOf, numberOf)
    const summaries = summariesOf(db.read, items, (threads) => threadIdsOf(db.read, threads))
    return { items: items.flatMap((n) => summaries.get(n) ?? []), next }
  }

  /**
   * Excerpts of messages with the words of the filter highlighted; other conditions of the filter are ignored.
   * @throws ProductError invalid_parameter if `q` exceeds a limit
   */
  async snippets(account: Account, filter: MessageFilter, ids: readonly string[]): Promise<Snippet[]> {
    const { db, blobs, clock } = this.#deps
    return snippetsOf({ reader: db.read, blobs }, account, ids, filterTerm(filter, clock.now()))
  }

  /** The people to whom the mailbox has written, see {@link readContacts}. */
  async contacts(account: Account, limit: number): Promise<Contact[]> {
    const { db, folders, clock } = this.#deps
    const sent = folders.keys(account).find(({ role }) => role === 'sent')
    return sent === undefined ? [] : readContacts(db.scan, sent.n, clock.now(), limit)
  }

  /** See {@link folderReferencesIn}. */
  folderReferences(account: Account, { q }: MessageFilter): string {
    const { db, folders, clock } = this.#deps
    return folderReferencesIn({ reader: db.read, folders, now: clock.now() }, account, q)
  }

  /**
   * Changes of a list since a state of the messages.
   * @param request `most`: maximum number of messages changed since; `upTo`: last message the client has, positions after it are left out
   * @throws ProductError conflict if the state is unknown or too old, more messages changed, or the list depends on the current time;
   *   invalid_parameter if `q` exceeds a limit
   */
  async queryChanges(
    account: Account,
    filter: MessageFilter,
    order: MessageOrder,
    request: { since: string; most: number; upTo?: string },
  ): Promise<QueryChanges> {
    const { db, folders, clock, accounts } = this.#deps
    if (dependsOnNow(filter)) throw dependsOnTime()
    const since = readState('messages', request.since)
    if (since === null) throw stateTooOld('since_query_state')
    const upTo = request.upTo === undefined ? null : this.#keyOf(account, request.upTo, order)
    return steadyChanges({ accounts, account, type: 'messages', reader: db.read, since }, () => {
      const search = openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
      return changesOfList(db.scan, { search, order, since, most: request.most, upTo })
    })
  }

  /** The sort key of a message; null if there is no such message. */
  #keyOf(account: Account, id: string, { sort }: MessageOrder): RowKey | null {
    const row = this.#deps.db.read.get<RowKey>(
      `SELECT ${SORT_KEY[sort]('m')} AS at, m.n FROM messages m WHERE m.id = ? AND m.account = ?`,
      [id, account.n],
    )
    return row ?? null
  }

  /** Number and total size (bytes) of the messages that match a filter. */
  async count(account: Account, filter: MessageFilter): Promise<MessageCount> {
    const { db, folders, clock } = this.#deps
    const search = openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    return countTotals(db.read, search) ?? countMessages(db.scan, search)
  }

  /**
   * Length of a list: from the maintained totals where the filter is a folder or has none, else counted.
   * @returns null for a text search with too many matches to be counted
   * @throws ProductError invalid_parameter if `q` exceeds a limit
   */
  async total(account: Account, filter: MessageFilter, collapseThreads: boolean): Promise<number | null> {
    const { db, folders, clock } = this.#deps
    const entries = collapseThreads ? 'threads' : 'messages'
    const ofFolder = folderTotal(folders, account, filter, entries)
    if (ofFolder !== undefined) return ofFolder
    const search = openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    const known = collapseThreads ? undefined : countTotals(db.read, search)
    return known?.count ?? countEntries(db.scan, search, entries)
  }

  /** The summary of a message; undefined if there is none. */
  summary(account: Account, id: string, reader: Reader = this.#deps.db.read): MessageSummary | undefined {
    const row = reader.get<{ n: number }>('SELECT n FROM messages WHERE id = ? AND account = ?', [id, account.n])
    if (row === undefined) return undefined
    return summariesOf(reader, [row.n], (threads) => threadIdsOf(reader, threads)).get(row.n)
  }

  /** Whether the account has no earlier message with this author. */
  isFirstFrom(account: Account, id: string, address: string): boolean {
    const { read } = this.#deps.db
    const row = read.get<{ n: number }>('SELECT n FROM messages WHERE id = ? AND account = ?', [id, account.n])
    return row === undefined || !hasOlderWithKey(read, account.n, addressKey('from', address), row.n)
  }

  get(account: Account, id: string): MessageDetail | undefined {
    return readDetail(this.#deps.db.read, account, id)
  }

  /**
   * The text and HTML body of a message, each truncated to `chars` code points. Only the bytes of these parts are read.
   * @returns undefined if there is no such message
   */
  async bodies(account: Account, id: string, chars: number): Promise<DecodedBodies | undefined> {
    const structure = storedStructure(this.#deps.db.read, account, id)
    return structure && readBodies(this.#bytesOf(structure), structure, chars)
  }

  /**
   * Both bodies as stored, to be decoded in a worker; undefined if there is no such message.
   * @param most bytes of each that are read
   */
  async storedBodies(account: Account, id: string, most?: number): Promise<StoredBodies | undefined> {
    const structure = storedStructure(this.#deps.db.read, account, id)
    return structure && storedBodies(this.#deps.blobs, structure, most)
  }

  /** What the mailbox exchanged with the sender of a message before. */
  senderHistory({ n }: Account, { id, receivedAt, from }: MessageDetail): Exchange {
    return senderHistory(this.#deps.db.read, n, { id, receivedAt, address: from.email })
  }

  /** The decoded header fields in the order of the message; undefined if there is no such message. */
  async headers(account: Account, id: string): Promise<DecodedField[] | undefined> {
    const structure = storedStructure(this.#deps.db.read, account, id)
    return structure && readHeader(this.#bytesOf(structure), structure)
  }

  #bytesOf({ blob }: StoredStructure): ReadBytes {
    return (start, end) => this.#deps.blobs.bytes(blob, start, end)
  }

  /** The fields a reply needs; undefined if there is no such message. */
  original(account: Account, id: string): OriginalMessage | undefined {
    return originalOf(this.#deps.db.read, account, id)
  }

  /** See {@link messageAuthors}. */
  authors(
    account: Pick<Account, 'n'>,
    ids: { messages: readonly string[]; threads: readonly string[] },
    reader: Reader = this.#deps.db.read,
  ): MessageAuthor[] {
    return messageAuthors(reader, account.n, ids)
  }

  /** The oldest thread of an account in which one of some Message-IDs occurs; null without one. */
  threadNaming(
    reader: Reader,
    { n }: Pick<Account, 'n'>,
    messageIds: readonly string[],
  ): { n: number; id: string } | null {
    if (messageIds.length === 0) return null
    const found = threadsNaming(reader, n, messageIds)
    if (found.length === 0) return null
    const oldest = Math.min(...found)
    return { n: oldest, id: threadIdsOf(reader, [oldest]).get(oldest)! }
  }

  /** See {@link threadAuthors}. @param thread its number */
  authorsOfThread(thread: number, reader: Reader): Set<string> {
    return threadAuthors(reader, thread)
  }

  /** The hashes that a message refers to, as hex. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const list = placeholders(hashes)
    const rows = await this.#deps.db.scan.all<{ blob: Uint8Array }>(
      `SELECT DISTINCT blob FROM messages WHERE blob IN (${list})`,
      hashes,
    )
    return new Set(rows.map(({ blob }) => Buffer.from(blob).toString('hex')))
  }
}
