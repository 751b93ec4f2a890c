// Runs a search over a folder in pages: what is cheap first, and content only of messages that are undecided without it.

import { countOf, type NumberRange, piecesOfRanges } from '../../base/number-ranges.ts'
import type { EntryCondition } from '../../store/entries/folders-search.ts'
import { SEARCH_FACTS_BYTES, SEARCH_PAGE_MS, SLICE_MS } from '../grammar/limits.ts'
import type { SearchKey } from '../grammar/search-keys.ts'
import { rangesOf } from '../grammar/sets.ts'
import { entryCondition, readsSubjects } from '../search/entry-search.ts'
import { type Collection, type Ordered, orderCollected } from '../search/hit-facts.ts'
import { SearchHits } from '../search/hits.ts'
import { kindsOf, leavesOf } from '../search/key-kinds.ts'
import { type PageResult, type PageTask, searchPage } from '../search/page.ts'
import { damageSentence, formatAnswer, no } from '../session/answers.ts'
import type { ImapSession } from '../session/session.ts'
import { TimeSlice } from '../session/time-slice.ts'
import { intersectRanges, type UidView } from '../views/views.ts'
import { uidsInView } from './message-sets.ts'

/** Messages and bytes up to which BODY and TEXT are compared exactly (docs/design/mail-programs.md §2.4). */
export const EXACT_MESSAGES = 2000
export const EXACT_BYTES = 64 * 1024 * 1024
/** More messages are searched in the search thread. */
export const HERE_MESSAGES = 250
/** More content than this is read in the search thread, bytes. */
const HERE_BYTES = 256 * 1024
const HERE_CONTENTS = 20
/** UIDs of one page. It ends by its time: handing over many short ones takes longer than their work on a busy machine. */
const PAGE = 20_000
/** UIDs of one page of a search in subjects. */
const MATCHED_AT_ONCE = 50_000
const NO_TEXTS: ReadonlyMap<SearchKey, ReadonlySet<number>> = new Map()

/** A folder as the session that searches it knows it. */
export interface SearchedFolder {
  n: number
  view: UidView
  /** UIDs that are \Recent. */
  recent: readonly NumberRange[]
  /** What `$` stands for. */
  saved: readonly NumberRange[]
}

export interface SearchOptions {
  /** What the answer needs of each hit; UIDs alone by default. */
  collects?: Collection
  /** With more hits the search fails: LIMIT. */
  most?: number
  /** The modification numbers of hits are not needed: they are 0. */
  withoutModSeqs?: boolean
}

/** What was found. */
export interface SearchOutcome {
  /** By ascending UID. */
  hits: SearchHits
  /** The order of SORT, or the text of THREAD; null for SEARCH. */
  ordered: Ordered | null
}

/** Messages that only their content decides. */
interface Undecided {
  uids: Uint32Array
  messages: Float64Array
  bytes: number
}

/** The selected folder of a session. */
export function selectedForSearch({ folder, saved }: ImapSession): SearchedFolder {
  return { n: folder.n, view: folder.view, recent: folder.recent, saved }
}

/** @throws CommandFailure LIMIT when what was collected is too much; ConnectionEnded when the client has gone */
export function searchFolder(
  session: ImapSession,
  folder: SearchedFolder,
  key: SearchKey,
  options: SearchOptions = {},
): Promise<SearchOutcome> {
  const search = new FolderSearch(session, folder, key, options)
  const condition = options.withoutModSeqs && !search.isSmall ? entryCondition(key, session.app.clock.now()) : null
  const inTurn = <T>(work: () => Promise<T>) => session.app.searcher.during(session.signedIn.account.n, work)
  if (condition !== null && options.collects === undefined)
    return readsSubjects(condition) ? inTurn(() => search.bySubjects(condition)) : search.byEntries(condition)
  return search.isSmall ? search.run() : inTurn(() => search.run())
}

class FolderSearch {
  readonly #session: ImapSession
  readonly #folder: SearchedFolder
  readonly #key: SearchKey
  readonly #options: SearchOptions
  readonly #sets: ReadonlyMap<SearchKey, readonly NumberRange[]>
  readonly #candidates: readonly NumberRange[]
  readonly #total: number
  readonly #slice = new TimeSlice()
  readonly #now: number
  readonly #facts: Uint8Array<ArrayBuffer>[] = []
  /** UIDs of messages whose content is damaged. */
  readonly #damaged = new Set<number>()
  #factBytes = 0
  #done = 0

  constructor(session: ImapSession, folder: SearchedFolder, key: SearchKey, options: SearchOptions) {
    this.#session = session
    this.#folder = folder
    this.#key = key
    this.#options = options
    this.#now = session.app.clock.now()
    this.#sets = setsOf(folder, key)
    this.#candidates = candidates(folder, key, this.#sets)
    this.#total = countOf(this.#candidates)
  }

  /** Few messages: the first thread looks at them itself. */
  get isSmall(): boolean {
    return this.#total <= HERE_MESSAGES
  }

  /** One statement instead of pages: what the candidates are is known, or a scan of the entries tells it. */
  async byEntries(condition: EntryCondition): Promise<SearchOutcome> {
    const session = this.#session
    const { views } = session.app.store.programs
    const { n } = this.#folder
    const all = { first: 1, last: this.#folder.view.lastUid }
    const found = condition.kind === 'all' ? null : (await views.matchingUids(n, condition, all)).found
    // Messages that are gone are not found, also when that has not been announced yet.
    const current = found === null ? ((await session.app.views.current(n))?.view.ranges() ?? []) : null
    await session.app.db.durable(session.signedIn.account.n)
    session.assertRunning()
    const ranges = current === null ? this.#candidates : intersectRanges(this.#candidates, current)
    return { hits: this.#checked(SearchHits.ofUids(uidsOf(ranges, this.#total, found))), ordered: null }
  }

  /** A statement for each page of UIDs; messages whose subject is not kept as text are looked at one by one. */
  async bySubjects(condition: EntryCondition): Promise<SearchOutcome> {
    const { app, signedIn } = this.#session
    const pages: Uint32Array[] = []
    const undecided: number[] = []
    for (const ranges of piecesOfRanges(this.#candidates, MATCHED_AT_ONCE)) {
      const uids = { first: ranges[0]![0], last: ranges.at(-1)![1] }
      const matching = await this.#inThread(app.searcher.matching({ folder: this.#folder.n, condition, uids }))
      pages.push(uidsOf(ranges, countOf(ranges), matching.found))
      for (const uid of uidsOf(ranges, matching.undecided.length, matching.undecided)) undecided.push(uid)
      this.#done += countOf(ranges)
      this.#session.progress.reached(this.#done, this.#total)
    }
    await app.db.durable(signedIn.account.n)
    this.#session.assertRunning()
    const found = SearchHits.ofPages(pages.map((uids) => ({ uids, modSeqs: new Float64Array(uids.length) })))
    const others = undecided.length === 0 ? SearchHits.NONE : (await this.run(rangesOf(undecided))).hits
    return { hits: this.#checked(found.mergedWith(others)), ordered: null }
  }

  async run(candidates = this.#candidates): Promise<SearchOutcome> {
    this.#session.assertRunning()
    const pages: PageResult[] = []
    const isHere = countOf(candidates) <= HERE_MESSAGES
    for await (const page of this.#pages(candidates, { isHere })) pages.push(page)
    const undecided = joined(pages.map((page) => page.undecided))
    const found = SearchHits.ofPages(pages)
    const others = undecided.uids.length === 0 ? SearchHits.NONE : await this.#byContent(undecided)
    const hits = found.mergedWith(others)
    if (this.#damaged.size > 0) this.#sayDamaged()
    const { collects = { kind: 'hits' } } = this.#options
    this.#checked(hits)
    const ordered = collects.kind === 'hits' ? null : await this.#order(collects)
    return { hits, ordered }
  }

  #checked(hits: SearchHits): SearchHits {
    const { most = hits.length } = this.#options
    if (hits.length > most) throw no('LIMIT', 'The search finds too many messages for this command.')
    return hits
  }

  /** Looks at UIDs page by page. */
  async *#pages(
    uids: readonly NumberRange[],
    { isHere, textsOf }: { isHere: boolean; textsOf?: (page: readonly NumberRange[]) => PageTask['words'] },
  ): AsyncGenerator<PageResult> {
    const { app } = this.#session
    for (const page of piecesOfRanges(uids, PAGE)) {
      for (let rest = page; rest.length > 0; ) {
        const task = this.#task(rest, textsOf?.(page))
        const result = isHere
          ? await searchPage(this.#session, { ...task, limitMs: SLICE_MS })
          : await this.#inThread(app.searcher.page(task))
        // Modification numbers that a power failure could take back are not shown.
        await app.db.durable(this.#session.signedIn.account.n)
        this.#session.assertRunning()
        this.#countFacts(result)
        for (const uid of result.damaged) this.#damaged.add(uid)
        yield result
        rest = rest.flatMap(([first, last]) =>
          last <= result.through ? [] : [[Math.max(first, result.through + 1), last]],
        )
        await this.#slice.pause()
      }
      this.#done += textsOf === undefined ? countOf(page) : 0
      this.#session.progress.reached(this.#done, this.#total)
    }
  }

  #task(ranges: readonly NumberRange[], words?: PageTask['words']): PageTask {
    const { view, recent, n } = this.#folder
    const within = (all: readonly NumberRange[]) => intersectRanges(ranges, all)
    return {
      folder: n,
      part: { ranges, sequences: ranges.map(([first]) => view.sequenceOf(first)) },
      key: this.#key,
      sets: new Map([...this.#sets].map(([key, all]) => [key, within(all)])),
      recent: within(recent),
      now: this.#now,
      words: words ?? NO_TEXTS,
      readsContent: words !== undefined,
      limitMs: SEARCH_PAGE_MS,
      collects: this.#options.collects ?? { kind: 'hits' },
    }
  }

  #countFacts({ facts }: PageResult): void {
    if (facts === null) return
    this.#facts.push(facts)
    this.#factBytes += facts.length
    if (this.#factBytes > SEARCH_FACTS_BYTES) throw no('LIMIT', 'The header fields of these messages are too large.')
  }

  /** Decides the rest by the content of messages: exactly where that is little, else by the words of the index. */
  async #byContent({ uids, messages, bytes }: Undecided): Promise<SearchHits> {
    const isExact = uids.length <= EXACT_MESSAGES && bytes <= EXACT_BYTES
    const texts = kindsOf(this.#key).content.filter((key) => key.kind === 'text' && (key.isFuzzy || !isExact))
    const words = new Map<SearchKey, Float64Array>()
    for (const key of texts) if (key.kind === 'text') words.set(key, await this.#words(key))
    const textsOf = (page: readonly NumberRange[]) => {
      const here = messages.subarray(indexOf(uids, page[0]![0]), indexOf(uids, page.at(-1)![1] + 1))
      return new Map(
        [...words].map(([key, found]) => [key, new Set(here.filter((n) => found[indexOf(found, n)] === n))]),
      )
    }
    const isHere = isExact && uids.length <= HERE_CONTENTS && bytes <= HERE_BYTES
    const pages: PageResult[] = []
    for await (const page of this.#pages(rangesOf(uids), { isHere, textsOf })) pages.push(page)
    return SearchHits.ofPages(pages)
  }

  async #words({ scope, value }: Extract<SearchKey, { kind: 'text' }>): Promise<Float64Array> {
    const { app, signedIn } = this.#session
    const part = scope === 'body' ? 'body' : 'any'
    const found = await this.#inThread(app.searcher.words({ account: signedIn.account.n, part, text: value }))
    return found ?? new Float64Array(0)
  }

  /** A warning (RFC 9051 §7.1.2): the search finds what it can read. The search thread cannot note damage. */
  #sayDamaged(): void {
    const session = this.#session
    const uids = [...this.#damaged].sort((a, b) => a - b)
    const answer = { condition: 'NO', code: 'CORRUPTION', text: damageSentence(uids) } as const
    session.say(formatAnswer('*', answer))
    const { store } = session.app
    const entries = store.programs.views.entries(
      this.#folder.n,
      rangesOf(uids).map(([first, last]) => ({ first, last })),
      uids.length,
    )
    void store.programs.mail
      .review(entries.map(({ message }) => message))
      .catch((error: unknown) => session.logError(error, 'SEARCH'))
  }

  #order(collected: Exclude<Collection, { kind: 'hits' }>): Promise<Ordered> | Ordered {
    const task = { pages: this.#facts, collected }
    return this.isSmall ? orderCollected(task) : this.#inThread(this.#session.app.searcher.order(task))
  }

  /** @throws ConnectionEnded when the client has gone meanwhile, also for an error: the thread ends at a shutdown */
  async #inThread<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } finally {
      this.#session.assertRunning()
    }
  }
}

/** UIDs of ranges, as far as they are among those found; null for all. @param found ascending */
function uidsOf(ranges: readonly NumberRange[], total: number, found: Float64Array | null): Uint32Array {
  const uids = new Uint32Array(total)
  let count = 0
  if (found === null) for (const [first, last] of ranges) for (let uid = first; uid <= last; uid++) uids[count++] = uid
  else {
    let at = 0
    for (const uid of found) {
      while (at < ranges.length && ranges[at]![1] < uid) at++
      if (at === ranges.length) break
      if (ranges[at]![0] <= uid) uids[count++] = uid
    }
  }
  return uids.subarray(0, count)
}

function joined(all: readonly PageResult['undecided'][]): Undecided {
  const count = all.reduce((sum, { uids }) => sum + uids.length, 0)
  const [uids, messages] = [new Uint32Array(count), new Float64Array(count)]
  let [at, bytes] = [0, 0]
  for (const one of all) {
    uids.set(one.uids, at)
    messages.set(one.messages, at)
    at += one.uids.length
    bytes += one.bytes
  }
  return { uids, messages, bytes }
}

/** Where a number is or would be in ascending numbers. */
function indexOf(numbers: Uint32Array | Float64Array, number: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < number) low = middle + 1
    else high = middle
  }
  return low
}

/** The UIDs that can match: sets that every match must be in narrow them. */
function candidates(
  { view }: SearchedFolder,
  key: SearchKey,
  sets: ReadonlyMap<SearchKey, readonly NumberRange[]>,
): readonly NumberRange[] {
  const keys = key.kind === 'and' ? key.keys : [key]
  return keys.reduce<readonly NumberRange[]>((uids, one) => {
    const set = sets.get(one)
    return set === undefined ? uids : intersectRanges(uids, set)
  }, view.ranges())
}

/** UIDs of the sets among the keys. */
function setsOf({ view, saved }: SearchedFolder, key: SearchKey): Map<SearchKey, readonly NumberRange[]> {
  const sets = new Map<SearchKey, readonly NumberRange[]>()
  for (const leaf of leavesOf(key)) {
    if (leaf.kind === 'set') sets.set(leaf, uidsInView(view, saved, leaf.set, leaf.isUid))
  }
  return sets
}
