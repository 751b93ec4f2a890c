// Inserts new messages in the order of a folder: only the messages they are compared with are read.

import { deserialize } from 'node:v8'
import { type SearchSource, searchPage } from './page.ts'
import { compareRows, type SortCriterion, type SortRow, sortedRows } from './sort.ts'

/** Plain values: it is cloned to the search thread. */
export interface InsertionTask {
  folder: number
  criteria: readonly SortCriterion[]
  /** UIDs in order. */
  order: Uint32Array<ArrayBuffer>
  /** UIDs to insert. */
  fresh: readonly number[]
}

/** Compares with messages of an order, which are read when they are needed: those of one step of all searches together. */
class ComparedRows {
  readonly #source: SearchSource
  readonly #task: InsertionTask
  /** Null for messages that are gone. */
  readonly #known = new Map<number, SortRow | null>()

  constructor(source: SearchSource, task: InsertionTask) {
    this.#source = source
    this.#task = task
  }

  /** @returns the rows of UIDs that exist */
  async of(uids: readonly number[]): Promise<SortRow[]> {
    await this.#read(uids.filter((uid) => !this.#known.has(uid)))
    return uids.flatMap((uid) => this.#known.get(uid) ?? [])
  }

  isGone(uid: number): boolean {
    return this.#known.get(uid) === null
  }

  /** Of a UID that was read and exists. */
  get(uid: number): SortRow {
    return this.#known.get(uid)!
  }

  async #read(uids: readonly number[]): Promise<void> {
    if (uids.length === 0) return
    const ranges = [...new Set(uids)].sort((a, b) => a - b).map((uid): [number, number] => [uid, uid])
    const { facts } = await searchPage(this.#source, {
      ...{ folder: this.#task.folder, key: { kind: 'all' }, sets: new Map(), recent: [], now: 0, words: new Map() },
      ...{ readsContent: false, limitMs: Number.POSITIVE_INFINITY },
      part: { ranges, sequences: ranges.map(() => 1) },
      collects: { kind: 'sort', criteria: this.#task.criteria, key: { kind: 'all' } },
    })
    for (const uid of uids) this.#known.set(uid, null)
    for (const row of deserialize(facts!) as SortRow[]) this.#known.set(row.number, row)
  }
}

/** The order with the new messages; without messages that are gone, as far as it looks at them. */
export async function insertInOrder(source: SearchSource, task: InsertionTask): Promise<Uint32Array<ArrayBuffer>> {
  const rows = new ComparedRows(source, task)
  const fresh = sortedRows(await rows.of(task.fresh), task.criteria)
  for (let order: Uint32Array<ArrayBuffer> = task.order; ; order = order.filter((uid) => !rows.isGone(uid))) {
    const positions = await positionsIn(order, fresh, rows, task.criteria)
    if (positions !== null) return merged(order, fresh, positions)
  }
}

/** Before which position of the order each row comes. @returns null when one of the messages that were looked at is gone */
async function positionsIn(
  order: Uint32Array,
  fresh: readonly SortRow[],
  rows: ComparedRows,
  criteria: readonly SortCriterion[],
): Promise<number[] | null> {
  const spans = fresh.map((row) => ({ row, low: 0, high: order.length }))
  for (let open = spans; open.length > 0; open = open.filter(({ low, high }) => low < high)) {
    const middles = open.map(({ low, high }) => order[(low + high) >> 1]).filter((uid) => uid !== undefined)
    await rows.of(middles)
    if (middles.some((uid) => rows.isGone(uid))) return null
    for (const span of open) {
      const middle = (span.low + span.high) >> 1
      const uid = order[middle]
      if (uid !== undefined && compareRows(rows.get(uid), span.row, criteria) < 0) span.low = middle + 1
      else span.high = middle
    }
  }
  return spans.map(({ low }) => low)
}

function merged(order: Uint32Array, fresh: readonly SortRow[], positions: readonly number[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(order.length + fresh.length)
  let [at, next] = [0, 0]
  for (let position = 0; position <= order.length; position++) {
    while (next < fresh.length && positions[next] === position) all[at++] = fresh[next++]!.number
    if (position < order.length) all[at++] = order[position]!
  }
  return all
}
