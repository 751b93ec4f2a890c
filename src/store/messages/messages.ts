// Messages as they are read: lists, single ones, their bodies and header.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader } from '../../db/db.ts'
import { pageOf } from '../../db/page.ts'
import type { Accounts } from '../accounts.ts'
import type { Blobs } from '../blobs.ts'
import type { Folders } from '../folders.ts'
import { KeptPages } from '../kept-pages.ts'
import type { Account, MessageDetail, MessageFilter, MessageSummary, Page } from '../records.ts'
import { dependsOnNow, filterTerm } from '../search/ask.ts'
import { openSearch } from '../search/search.ts'
import { keyOf, numberOf } from '../search/sql.ts'
import { threadIdsOf } from '../threads/numbers.ts'
import { type Original, originalOf } from './answered.ts'
import { type Bodies, type Field, readBodies, readHeader } from './bodies.ts'
import { type StoredBodies, storedBodies } from './body-bytes.ts'
import { countMessages, type MessageCount } from './count.ts'
import { detailOf, keptStructure } from './detail.ts'
import { isShort, listPlaces, type MessageCut } from './list.ts'
import { summariesOf } from './rows.ts'
import { type Snippet, snippetsOf } from './snippets.ts'

export interface MessagesParts {
  db: Db
  clock: Clock
  accounts: Accounts
  blobs: Blobs
  folders: Folders
}

export class Messages {
  readonly #parts: MessagesParts
  readonly #pages: KeptPages<MessageSummary>

  constructor(parts: MessagesParts) {
    this.#parts = parts
    this.#pages = new KeptPages(parts.accounts)
  }

  /** @throws ProductError invalid_parameter when `q` is out of bounds (decisions §10.4) */
  async list(account: Account, filter: MessageFilter, cut: MessageCut): Promise<Page<MessageSummary>> {
    if (dependsOnNow(filter)) return this.#read(account, filter, cut)
    return this.#pages.page(account, [filter, cut], () => this.#read(account, filter, cut))
  }

  async #read(account: Account, filter: MessageFilter, cut: MessageCut): Promise<Page<MessageSummary>> {
    const { db, folders, clock } = this.#parts
    const search = await openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    const places = await listPlaces(isShort(search, cut) ? db.read : db.scan, search, cut)
    const { items, next } = pageOf(places, cut.limit, keyOf, numberOf)
    const summaries = await summariesOf(db.read, items, (threads) => threadIdsOf(db.read, threads))
    return { items: items.flatMap((n) => summaries.get(n) ?? []), next }
  }

  /**
   * Where the words of a filter stand in these messages, whatever else it asks for.
   * @throws ProductError invalid_parameter when `q` is out of bounds
   */
  async snippets(account: Account, filter: MessageFilter, ids: readonly string[]): Promise<Snippet[]> {
    const { db, blobs, clock } = this.#parts
    return snippetsOf({ reader: db.read, blobs }, account, ids, filterTerm(filter, clock.now()))
  }

  /** How many a list with this filter would show, and how large they are together (bytes). */
  async count(account: Account, filter: MessageFilter): Promise<MessageCount> {
    const { db, folders, clock } = this.#parts
    const search = await openSearch({ reader: db.read, folders, now: clock.now() }, account, filter)
    return countMessages(db.scan, search)
  }

  /** What lists show of one message; undefined when there is none. */
  async summary(
    account: Account,
    id: string,
    reader: Reader = this.#parts.db.read,
  ): Promise<MessageSummary | undefined> {
    const row = await reader.get<{ n: number }>('SELECT n FROM messages WHERE id = ? AND account = ?', [id, account.n])
    if (row === undefined) return undefined
    return (await summariesOf(reader, [row.n], (threads) => threadIdsOf(reader, threads))).get(row.n)
  }

  async get(account: Account, id: string): Promise<MessageDetail | undefined> {
    return detailOf(this.#parts.db.read, account, id)
  }

  /**
   * The text and HTML of a message, each cut at `chars` code points. Only the bytes of the parts shown are read.
   * @returns undefined when there is no such message
   */
  async bodies(account: Account, id: string, chars: number): Promise<Bodies | undefined> {
    const kept = await keptStructure(this.#parts.db.read, account, id)
    return kept && readBodies(this.#parts.blobs, kept, chars)
  }

  /** Both bodies as they are stored, for whoever decodes them; undefined when there is no such message. */
  async storedBodies(account: Account, id: string): Promise<StoredBodies | undefined> {
    const kept = await keptStructure(this.#parts.db.read, account, id)
    return kept && storedBodies(this.#parts.blobs, kept)
  }

  /** The header fields in the order of the mail, decoded; undefined when there is no such message. */
  async headers(account: Account, id: string): Promise<Field[] | undefined> {
    const kept = await keptStructure(this.#parts.db.read, account, id)
    return kept && readHeader(this.#parts.blobs, kept)
  }

  /** What an answer to a message has to know of it; undefined when there is no such message. */
  async original(account: Account, id: string): Promise<Original | undefined> {
    return originalOf(this.#parts.db.read, account, id)
  }

  /** Which of these contents a message names, in hex. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const marks = hashes.map(() => '?').join(', ')
    const rows = await this.#parts.db.scan.all<{ blob: Uint8Array }>(
      `SELECT DISTINCT blob FROM messages WHERE blob IN (${marks})`,
      hashes,
    )
    return new Set(rows.map(({ blob }) => Buffer.from(blob).toString('hex')))
  }
}
