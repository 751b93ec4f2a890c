// Runs a search over the selected folder: what is cheap first, and more is read only of messages that are still undecided.

import type { FolderEntry } from '../../store/folders-views.ts'
import { rangesAfter } from '../../store/folders-views.ts'
import type { SearchKey } from '../grammar/search-keys.ts'
import type { NumberRange } from '../grammar/sets.ts'
import { MessagePage } from '../message-content.ts'
import { uidsWithin } from '../message-sets.ts'
import type { ImapSession } from '../session.ts'
import { TimeSlice } from '../time-slice.ts'
import { labelsOf } from '../updates.ts'
import { intersectRanges } from '../views.ts'
import { evaluate, isKeptField, type MessageFacts, type SearchSettings } from './evaluate.ts'
import { type ContentKey, matchContent } from './message-text.ts'

/** Messages and bytes up to which BODY and TEXT are compared exactly (decisions-imap §3.4). */
export const EXACT_MESSAGES = 2000
export const EXACT_BYTES = 64 * 1024 * 1024
const PAGE = 250

/** A message that matches. */
export interface SearchHit {
  uid: number
  modSeq: number
  /** Number of the message in the store. */
  message: number
  receivedAt: number
  sizeBytes: number
}

/** What the keys of a search need beyond entries. */
interface KeyKinds {
  labels: boolean
  ids: boolean
  headers: boolean
  content: ContentKey[]
}

export class FolderSearch {
  readonly #session: ImapSession
  readonly #key: SearchKey
  readonly #kinds: KeyKinds
  readonly #settings: SearchSettings
  readonly #slice = new TimeSlice()

  constructor(session: ImapSession, key: SearchKey) {
    this.#session = session
    this.#key = key
    this.#kinds = kindsOf(key)
    this.#settings = { now: session.app.clock.now(), sets: setsOf(session, key) }
  }

  /** The messages that match, by ascending UID. */
  async run(): Promise<SearchHit[]> {
    const { folder } = this.#session
    const hits: SearchHit[] = []
    const undecided: MessageFacts[] = []
    for await (const page of this.#pages(candidates(this.#session, this.#key))) {
      for (const facts of await this.#narrow(page)) {
        if (folder.view.sequenceOf(facts.entry.uid) === 0) continue
        await this.#slice.pause()
        const result = evaluate(this.#key, facts, this.#settings)
        if (result === true) hits.push(facts.entry)
        else if (result === null) undecided.push(facts)
      }
    }
    if (undecided.length > 0) hits.push(...(await this.#byContent(undecided)))
    return hits.sort((a, b) => a.uid - b.uid)
  }

  async *#pages(uids: readonly NumberRange[]): AsyncGenerator<FolderEntry[]> {
    const { app, folder } = this.#session
    for (let ranges = uids.map(([first, last]) => ({ first, last })); ranges.length > 0; ) {
      const page = app.store.views.entries(folder.n, ranges, PAGE)
      await app.db.durable()
      if (page.length > 0) yield page
      if (page.length < PAGE) return
      ranges = rangesAfter(ranges, page.at(-1)!.uid)
      await new Promise((resolve) => setImmediate(resolve))
      this.#session.assertOpen()
    }
  }

  /** Reads rows and headers of the messages of a page as far as the search depends on them. */
  async #narrow(page: readonly FolderEntry[]): Promise<MessageFacts[]> {
    const { folder } = this.#session
    const all = page.map((entry): MessageFacts => ({ entry, isRecent: folder.isRecent(entry.uid) }))
    const isOpen = (facts: MessageFacts) => evaluate(this.#key, facts, this.#settings) === null
    let open = all.filter(isOpen)
    if (open.length > 0 && (this.#kinds.labels || this.#kinds.ids)) {
      this.#addRows(open)
      open = open.filter(isOpen)
    }
    if (open.length > 0 && this.#kinds.headers) await this.#addHeaders(open)
    return all
  }

  #addRows(open: readonly MessageFacts[]): void {
    const entries = open.map(({ entry }) => entry)
    const labels = this.#kinds.labels ? labelsOf(this.#session, entries) : null
    const rows = this.#kinds.ids ? this.#session.app.store.mail.rows(entries.map(({ message }) => message)) : null
    for (const facts of open) {
      const row = rows?.get(facts.entry.message)
      if (labels !== null) facts.labels = labels.get(facts.entry.message) ?? []
      if (rows !== null) facts.ids = { message: row?.id ?? '', thread: row?.threadId ?? '' }
    }
  }

  async #addHeaders(open: readonly MessageFacts[]): Promise<void> {
    const entries = open.map(({ entry }) => entry)
    const needs = { rows: false, labels: false, headers: true, structure: false }
    const content = new MessagePage(this.#session, entries, needs, new Map())
    for (const facts of open) {
      const headers = await content.headers(facts.entry.message)
      if (headers !== undefined) facts.headers = headers
    }
  }

  /** Decides the rest by the content of messages: exactly where that is little, else by the words of the index. */
  async #byContent(undecided: readonly MessageFacts[]): Promise<FolderEntry[]> {
    const bytes = undecided.reduce((sum, { entry }) => sum + entry.sizeBytes, 0)
    const isExact = undecided.length <= EXACT_MESSAGES && bytes <= EXACT_BYTES
    const texts = this.#kinds.content.filter((key) => key.kind === 'text' && (key.isFuzzy || !isExact))
    const words = new Map<SearchKey, ReadonlySet<number> | null>()
    for (const key of texts) if (key.kind === 'text') words.set(key, await this.#wordHits(key))
    const others = this.#kinds.content.filter((key) => !words.has(key))
    const hits: FolderEntry[] = []
    for (const facts of undecided) {
      const found = new Map<SearchKey, boolean>()
      for (const [key, numbers] of words) found.set(key, numbers?.has(facts.entry.message) ?? false)
      facts.texts = found
      if (others.length > 0 && evaluate(this.#key, facts, this.#settings) === null) {
        for (const [key, isFound] of await this.#contentOf(facts.entry, others)) found.set(key, isFound)
      }
      if (evaluate(this.#key, facts, this.#settings) === true) hits.push(facts.entry)
      await this.#slice.pause()
      this.#session.assertOpen()
    }
    return hits
  }

  #wordHits(key: Extract<SearchKey, { kind: 'text' }>): Promise<ReadonlySet<number> | null> {
    const { app, signedIn } = this.#session
    const part = key.scope === 'body' ? 'body' : 'any'
    return app.store.mail.withWords(signedIn.account.n, { part, text: key.value })
  }

  #contentOf(entry: FolderEntry, keys: readonly ContentKey[]): Promise<Map<SearchKey, boolean>> {
    const needs = { rows: false, labels: false, headers: false, structure: true }
    return matchContent(new MessagePage(this.#session, [entry], needs, new Map()), entry.message, keys)
  }
}

/** The UIDs that can match: sets that every match must be in narrow them. */
function candidates(session: ImapSession, key: SearchKey): readonly NumberRange[] {
  const all = session.folder.view.ranges()
  const keys = key.kind === 'and' ? key.keys : [key]
  return keys.reduce<readonly NumberRange[]>(
    (uids, one) => (one.kind === 'set' ? intersectRanges(uids, uidsWithin(session, one.set, one.isUid)) : uids),
    all,
  )
}

function* leavesOf(key: SearchKey): Generator<SearchKey> {
  if (key.kind === 'and') for (const child of key.keys) yield* leavesOf(child)
  else if (key.kind === 'or') yield* [...leavesOf(key.left), ...leavesOf(key.right)]
  else if (key.kind === 'not') yield* leavesOf(key.key)
  else yield key
}

function kindsOf(key: SearchKey): KeyKinds {
  const leaves = [...leavesOf(key)]
  const isHeader = (leaf: SearchKey) =>
    leaf.kind === 'address' ||
    leaf.kind === 'subject' ||
    (leaf.kind === 'date' && leaf.date === 'sent') ||
    (leaf.kind === 'header' && isKeptField(leaf.name))
  const isContent = (leaf: SearchKey): leaf is ContentKey =>
    leaf.kind === 'text' || (leaf.kind === 'header' && !isKeptField(leaf.name))
  return {
    labels: leaves.some(({ kind }) => kind === 'keyword'),
    ids: leaves.some(({ kind }) => kind === 'id'),
    headers: leaves.some(isHeader),
    content: leaves.filter(isContent),
  }
}

/** Each set as a test of UIDs. */
function setsOf(session: ImapSession, key: SearchKey): Map<SearchKey, (uid: number) => boolean> {
  const sets = new Map<SearchKey, (uid: number) => boolean>()
  for (const leaf of leavesOf(key)) {
    if (leaf.kind !== 'set') continue
    const ranges = uidsWithin(session, leaf.set, leaf.isUid)
    sets.set(leaf, (uid) => isWithin(ranges, uid))
  }
  return sets
}

/** Binary search in ascending ranges. */
function isWithin(ranges: readonly NumberRange[], uid: number): boolean {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle]![1] < uid) low = middle + 1
    else high = middle
  }
  return low < ranges.length && ranges[low]![0] <= uid
}
