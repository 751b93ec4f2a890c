// Messages as they are read: lists, single ones, their bodies and header.

import type { Clock } from '../../base/clock.ts'
import { conflict, ProductError } from '../../base/errors.ts'
import type { Db, Reader } from '../../db/db.ts'
import { pageOf } from '../../db/page.ts'
import { type DecodedBodies, type DecodedField, type ReadBytes, readBodies, readHeader } from '../../mime/view.ts'
import { type Accounts, readState, writeState } from '../accounts.ts'
import type { Blobs } from '../blobs.ts'
import { tooOld } from '../changes.ts'
import { floorOf } from '../changes-history.ts'
import type { Folders } from '../folders.ts'
import { PageCache } from '../kept-pages.ts'
import type { Account, MessageDetail, MessageFilter, MessageSummary, Page } from '../records.ts'
import { dependsOnNow, filterTerm } from '../search/ask.ts'
import { namedIn, openSearch } from '../search/search.ts'
import { keyOf, numberOf, type RowKey } from '../search/sql.ts'
import { threadIdsOf } from '../threads/numbers.ts'
import { type Original, originalOf } from './answered.ts'
import { type StoredBodies, storedBodies } from './body-bytes.ts'
import { countMessages, countTotals, type MessageCount } from './count.ts'
import { detailOf, type KeptStructure, keptStructure } from './detail.ts'
import { isShort, listMessageKeys, type MessageCut, type MessageOrder, SORT_KEY } from './list.ts'
import { changesOfList } from './query-changes.ts'
import { summariesOf } from './rows.ts'
import { type Snippet, snippetsOf } from './snippets.ts'

export interface MessagesDeps {
  db: Db
  clock: Clock
  accounts: Accounts
  blobs: Blobs
  folders: Folders
}

/** What a client that holds a list since a state has to do to hold the list of now: to remove, then to insert in this order. */
export interface QueryChanges {
  newState: string
  /** Messages in the list now. */
  total: number
  /** Public ids; some may never have been in the list. */
  removed: string[]
  /** By index, the lowest first. */
  added: { id: string; index: number }[]
}

/** Tries to read a list and what its words stand for at one moment, while somebody works on the mailbox. */
const TRIES = 10

export class Messages {
  readonly #deps: MessagesDeps
  readonly #pages: PageCache<MessageSummary>

  constructor(deps: MessagesDeps) {
    this.#deps = deps
    this.#pages = new PageCache(deps.accounts)
  }

  /** @throws ProductError invalid_parameter when `q` is out of bounds (decisions §10.4) */
  async list(account: Account, filter: MessageFilter, cut: MessageCut): Promise<Page<MessageSummary>> {
    if (dependsOnNow(filter)) return this.#read(account, filter, cut)
    return this.#pages.page(account, [filter, cut], () => this.#read(account, filter, cut))
  }

  async #read(account: Account, filter: MessageFilter, cut: MessageCut): Promise<Page<MessageSummary>> {
    const { db, folders, clock } = this.#deps
    const search = await openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    const places = await listMessageKeys(isShort(search, cut) ? db.read : db.scan, search, cut)
    const { items, next } = pageOf(places, cut.limit, keyOf, numberOf)
    const summaries = await summariesOf(db.read, items, (threads) => threadIdsOf(db.read, threads))
    return { items: items.flatMap((n) => summaries.get(n) ?? []), next }
  }

  /**
   * Where the words of a filter stand in these messages, whatever else it asks for.
   * @throws ProductError invalid_parameter when `q` is out of bounds
   */
  async snippets(account: Account, filter: MessageFilter, ids: readonly string[]): Promise<Snippet[]> {
    const { db, blobs, clock } = this.#deps
    return snippetsOf({ reader: db.read, blobs }, account, ids, filterTerm(filter, clock.now()))
  }

  /** See {@link namedIn}. */
  namedIn(account: Account, { q }: MessageFilter): Promise<string> {
    const { db, folders, clock } = this.#deps
    return namedIn({ reader: db.read, folders, now: clock.now() }, account, q)
  }

  /**
   * What became of a list since a state of the messages.
   * @param asked `most`: messages touched since, at most; `upTo`: the last message the client holds, what stands behind is not told
   * @throws ProductError conflict when the state is unknown or too old, more was touched, or the list depends on the time of day;
   *   invalid_parameter when `q` is out of bounds
   */
  async queryChanges(
    account: Account,
    filter: MessageFilter,
    order: MessageOrder,
    asked: { since: string; most: number; upTo?: string },
  ): Promise<QueryChanges> {
    if (dependsOnNow(filter)) throw conflict('This list changes with the time; fetch it again', 'since_query_state')
    const { db, folders, clock, accounts } = this.#deps
    const since = readState('messages', asked.since)
    if (since === null) throw tooOld('since_query_state')
    const upTo = asked.upTo === undefined ? null : await this.#placeOf(account, asked.upTo, order)
    for (let tries = 0; tries < TRIES; tries++) {
      const seq = await accounts.seq(account)
      const search = await openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
      const list = await changesOfList(db.scan, { search, order, since, most: asked.most, upTo })
      // The words of the filter were looked up a moment before.
      if (list.seq !== seq) continue
      // Asked behind the list: what was forgotten while it was read is missing in it.
      const isForgotten = since < (await floorOf(db.read, account.n, 'messages'))
      if (since > list.messagesSeq || list.tooMany || isForgotten) throw tooOld('since_query_state')
      const added = list.told.flatMap(({ id, index }) => (index === null ? [] : [{ id, index }]))
      return {
        newState: writeState('messages', list.messagesSeq),
        total: list.total,
        removed: list.told.map(({ id }) => id),
        added: added.sort((a, b) => a.index - b.index),
      }
    }
    throw new ProductError('service_unavailable', 'The mailbox is being changed all the time.', { retryAfter: 1 })
  }

  /** Where a message stands in an order, whether a list shows it or not; null when there is none. */
  async #placeOf(account: Account, id: string, { sort }: MessageOrder): Promise<RowKey | null> {
    const row = await this.#deps.db.read.get<RowKey>(
      `SELECT ${SORT_KEY[sort]('m')} AS at, m.n FROM messages m WHERE m.id = ? AND m.account = ?`,
      [id, account.n],
    )
    return row ?? null
  }

  /** How many a list with this filter would show, and how large they are together (bytes). */
  async count(account: Account, filter: MessageFilter): Promise<MessageCount> {
    const { db, folders, clock } = this.#deps
    const search = await openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    return (await countTotals(db.read, search)) ?? countMessages(db.scan, search)
  }

  /** What lists show of one message; undefined when there is none. */
  async summary(
    account: Account,
    id: string,
    reader: Reader = this.#deps.db.read,
  ): Promise<MessageSummary | undefined> {
    const row = await reader.get<{ n: number }>('SELECT n FROM messages WHERE id = ? AND account = ?', [id, account.n])
    if (row === undefined) return undefined
    return (await summariesOf(reader, [row.n], (threads) => threadIdsOf(reader, threads))).get(row.n)
  }

  async get(account: Account, id: string): Promise<MessageDetail | undefined> {
    return detailOf(this.#deps.db.read, account, id)
  }

  /**
   * The text and HTML of a message, each cut at `chars` code points. Only the bytes of the parts shown are read.
   * @returns undefined when there is no such message
   */
  async bodies(account: Account, id: string, chars: number): Promise<DecodedBodies | undefined> {
    const kept = await keptStructure(this.#deps.db.read, account, id)
    return kept && readBodies(this.#bytesOf(kept), kept, chars)
  }

  /** Both bodies as they are stored, for whoever decodes them; undefined when there is no such message. */
  async storedBodies(account: Account, id: string): Promise<StoredBodies | undefined> {
    const kept = await keptStructure(this.#deps.db.read, account, id)
    return kept && storedBodies(this.#deps.blobs, kept)
  }

  /** The header fields in the order of the mail, decoded; undefined when there is no such message. */
  async headers(account: Account, id: string): Promise<DecodedField[] | undefined> {
    const kept = await keptStructure(this.#deps.db.read, account, id)
    return kept && readHeader(this.#bytesOf(kept), kept)
  }

  #bytesOf({ blob }: KeptStructure): ReadBytes {
    return (start, end) => this.#deps.blobs.bytes(blob, start, end)
  }

  /** What an answer to a message has to know of it; undefined when there is no such message. */
  async original(account: Account, id: string): Promise<Original | undefined> {
    return originalOf(this.#deps.db.read, account, id)
  }

  /** Which of these contents a message names, in hex. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const marks = hashes.map(() => '?').join(', ')
    const rows = await this.#deps.db.scan.all<{ blob: Uint8Array }>(
      `SELECT DISTINCT blob FROM messages WHERE blob IN (${marks})`,
      hashes,
    )
    return new Set(rows.map(({ blob }) => Buffer.from(blob).toString('hex')))
  }
}
