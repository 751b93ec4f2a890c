// Evaluates a search over a page of a folder: on the first thread for small folders, else in the search thread.

import { serialize } from 'node:v8'
import { stopwatch } from '../../base/clock.ts'
import { type NumberRange, piecesOfRanges, rangesInclude } from '../../base/number-ranges.ts'
import type { KeptHeaders } from '../../mime/message-headers.ts'
import { DamagedContent } from '../../store/content/damaged-content.ts'
import type { FolderEntry, FolderViews } from '../../store/entries/folders-views.ts'
import { ENTRY_FLAGS } from '../../store/entries/keywords.ts'
import { type MailSource, MessagePage } from '../fetch/message-content.ts'
import type { SearchKey } from '../grammar/search-keys.ts'
import { evaluate, type MessageFacts, type SearchSettings } from './evaluate.ts'
import { FieldMatches } from './field-matches.ts'
import { type Collection, collectedRow, needsHeadersFor } from './hit-facts.ts'
import { type KeyKinds, kindsOf } from './key-kinds.ts'
import { matchContent } from './message-text.ts'

/** Where a search reads: the first thread, or the search thread. */
export interface SearchSource extends MailSource {
  readonly app: MailSource['app'] & {
    readonly store: { readonly programs: { readonly views: Pick<FolderViews, 'entries'> } }
  }
}

/** UIDs of a session's view, and the sequence number of the first of each range. */
export interface ViewPart {
  ranges: readonly NumberRange[]
  sequences: readonly number[]
}

/** A search over a part of a folder. Plain values: it is cloned to the search thread. */
export interface PageTask {
  folder: number
  part: ViewPart
  key: SearchKey
  /** UIDs of the sets among the keys; the keys are those of `key`. */
  sets: ReadonlyMap<SearchKey, readonly NumberRange[]>
  /** UIDs that are \Recent. */
  recent: readonly NumberRange[]
  /** ms. */
  now: number
  /** Numbers of the messages of this page that have the words of a key, for keys that the index answers. */
  words: ReadonlyMap<SearchKey, ReadonlySet<number>>
  /** Reads the content of messages that are undecided otherwise. */
  readsContent: boolean
  /** The page ends after this time, ms. */
  limitMs: number
  collects: Collection
}

/** What a page found, by ascending UID. Buffers are handed over. */
export interface PageResult {
  /** All UIDs up to this one were looked at. */
  through: number
  uids: Uint32Array<ArrayBuffer>
  modSeqs: Float64Array<ArrayBuffer>
  /** What the answer needs of the hits, see `hit-facts.ts`; null for SEARCH. */
  facts: Uint8Array<ArrayBuffer> | null
  /** UIDs of messages whose content had to be read and is damaged: they do not match by it. */
  damaged: readonly number[]
  /** Messages that only their content decides; none when the page reads it. */
  undecided: { uids: Uint32Array<ArrayBuffer>; messages: Float64Array<ArrayBuffer>; bytes: number }
}

/** Entries that are read at once. */
const AT_ONCE = 200
const NO_FIELDS: KeptHeaders = { bytes: Buffer.alloc(0), fields: [], isCut: false }

/** Searches a page, at most up to the end of its time. */
export async function searchPage(source: SearchSource, task: PageTask): Promise<PageResult> {
  const page = new SearchedPage(source, task)
  const elapsed = stopwatch()
  const last = task.part.ranges.at(-1)![1]
  for (const ranges of piecesOfRanges(task.part.ranges, AT_ONCE)) {
    const isOver = () => elapsed() > task.limitMs
    const through = await page.look(ranges, isOver)
    if (isOver()) return page.result(through)
  }
  return page.result(last)
}

class SearchedPage {
  readonly #source: SearchSource
  readonly #task: PageTask
  readonly #kinds: KeyKinds
  readonly #settings: SearchSettings
  readonly #hits: FolderEntry[] = []
  readonly #rows: unknown[] = []
  readonly #undecided: FolderEntry[] = []
  readonly #damaged = new Set<number>()

  constructor(source: SearchSource, task: PageTask) {
    this.#source = source
    this.#task = task
    this.#kinds = kindsOf(task.key)
    const sets = [...task.sets].map(([key, ranges]) => [key, (uid: number) => rangesInclude(ranges, uid)] as const)
    this.#settings = { now: task.now, sets: new Map(sets), fields: new FieldMatches() }
  }

  /** @returns the last UID that was looked at: content is read only until the time has expired */
  async look(ranges: readonly NumberRange[], isOver: () => boolean): Promise<number> {
    const { folder } = this.#task
    const { views } = this.#source.app.store.programs
    const wanted = ranges.map(([first, last]) => ({ first, last }))
    const all = views.entries(folder, wanted, AT_ONCE).map((entry) => this.#factsOf(entry))
    await this.#narrow(all)
    const hits: MessageFacts[] = []
    let through = ranges.at(-1)![1]
    for (const facts of all) {
      // Most are decided at once: awaiting each would take as long as comparing it.
      const found = this.#evaluate(facts) ?? (await this.#decide(facts))
      if (found) hits.push(facts)
      if (this.#task.readsContent && isOver()) {
        through = facts.entry.uid
        break
      }
    }
    await this.#collect(hits)
    return through
  }

  #factsOf(entry: FolderEntry): MessageFacts {
    const facts: MessageFacts = { entry, isRecent: rangesInclude(this.#task.recent, entry.uid) }
    const { words } = this.#task
    if (words.size > 0) facts.texts = new Map([...words].map(([key, numbers]) => [key, numbers.has(entry.message)]))
    return facts
  }

  #evaluate(facts: MessageFacts): boolean | null {
    return evaluate(this.#task.key, facts, this.#settings)
  }

  /** Reads rows and headers of messages as far as the search depends on them. */
  async #narrow(all: readonly MessageFacts[]): Promise<void> {
    let open = all.filter((facts) => this.#evaluate(facts) === null)
    if (open.length > 0 && (this.#kinds.labels || this.#kinds.ids)) {
      this.#addRows(open)
      open = open.filter((facts) => this.#evaluate(facts) === null)
    }
    if (open.length > 0 && this.#kinds.headers) await this.#addHeaders(open)
  }

  #addRows(open: readonly MessageFacts[]): void {
    const { mail } = this.#source.app.store.programs
    const labelled = open.filter(({ entry }) => (entry.flags & ENTRY_FLAGS.labelled) !== 0)
    const labels = this.#kinds.labels ? mail.labels(labelled.map(({ entry }) => entry.message)) : null
    const rows = this.#kinds.ids ? mail.rows(open.map(({ entry }) => entry.message)) : null
    for (const facts of open) {
      const row = rows?.get(facts.entry.message)
      if (labels !== null) facts.labels = labels.get(facts.entry.message) ?? []
      if (rows !== null) facts.ids = { message: row?.id ?? '', thread: row?.threadId ?? '' }
    }
  }

  async #addHeaders(open: readonly MessageFacts[]): Promise<void> {
    const content = this.#contentOf(open, { headers: true })
    for (const facts of open) {
      const { message } = facts.entry
      const headers = content.keptHeaders(message) ?? (await this.#headersOf(content, facts.entry))
      if (headers !== undefined) facts.headers = headers
    }
  }

  #contentOf(all: readonly MessageFacts[], needs: { headers?: boolean; structure?: boolean }): MessagePage {
    const entries = all.map(({ entry }) => entry)
    const { headers = false, structure = false } = needs
    return new MessagePage(this.#source, entries, { rows: false, labels: false, headers, structure }, new Map())
  }

  /** Whether a message matches whose content decides it. */
  async #decide(facts: MessageFacts): Promise<boolean> {
    if (!this.#task.readsContent) {
      this.#undecided.push(facts.entry)
      return false
    }
    const keys = this.#kinds.content.filter((key) => !this.#task.words.has(key))
    const content = this.#contentOf([facts], { structure: true })
    const none = new Map<SearchKey, boolean>(keys.map((key) => [key, false]))
    const found = await this.#unlessDamaged(facts.entry, none, () => matchContent(content, facts.entry.message, keys))
    facts.texts = new Map([...(facts.texts ?? []), ...found])
    return this.#evaluate(facts) === true
  }

  async #collect(hits: readonly MessageFacts[]): Promise<void> {
    for (const { entry } of hits) this.#hits.push(entry)
    const { collects, part } = this.#task
    if (collects.kind === 'hits') return
    const content = needsHeadersFor(collects) ? this.#contentOf(hits, { headers: true }) : null
    for (const { entry, headers: known } of hits) {
      const headers =
        content === null
          ? null
          : (known ?? content.keptHeaders(entry.message) ?? (await this.#headersOf(content, entry)))
      // The message is gone.
      if (headers === undefined) continue
      this.#rows.push(collectedRow(collects, { entry, sequence: sequenceIn(part, entry.uid), headers }))
    }
  }

  /** The header of damaged content has no fields. */
  #headersOf(content: MessagePage, entry: FolderEntry): Promise<KeptHeaders | undefined> {
    return this.#unlessDamaged<KeptHeaders | undefined>(entry, NO_FIELDS, () => content.headers(entry.message))
  }

  async #unlessDamaged<T>(entry: FolderEntry, instead: T, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DamagedContent)) throw error
      this.#damaged.add(entry.uid)
      return instead
    }
  }

  result(through: number): PageResult {
    const [hits, undecided] = [this.#hits, this.#undecided]
    return {
      through,
      uids: Uint32Array.from(hits, ({ uid }) => uid),
      modSeqs: Float64Array.from(hits, ({ modSeq }) => modSeq),
      // A new array: that of `serialize` may be part of a larger one, which would be handed over whole.
      facts: this.#task.collects.kind === 'hits' ? null : new Uint8Array(serialize(this.#rows)),
      damaged: [...this.#damaged],
      undecided: {
        uids: Uint32Array.from(undecided, ({ uid }) => uid),
        messages: Float64Array.from(undecided, ({ message }) => message),
        bytes: undecided.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      },
    }
  }
}

/** The sequence number of a UID that is in the part. */
export function sequenceIn({ ranges, sequences }: ViewPart, uid: number): number {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle]![1] < uid) low = middle + 1
    else high = middle
  }
  return sequences[low]! + uid - ranges[low]![0]
}
