// Lists with full-text search: few matches are sorted; with many matches the list is walked in its order.

import type { AnyReader } from '../../db/db.ts'
import type { Fragment } from '../rows/folders.ts'
import { type PageRequest, type RowKey, unionAll } from '../rows/sql.ts'
import { allHits, firstHits, type Hits, type TextSearch } from '../search/hits.ts'

/** Up to this many matches, sorting them costs less than walking the list. */
export const FEW = 1000
// Matches that the first pass fetches; for costly searches only as many as needed to see whether they are dense.
const FIRST_PASS_MATCHES = 400
const FIRST_PASS_PER_ENTRY = 3

/** The two alternative statements of a list: SELECTs of `at` and `n` in the order of the list, limited to a page. */
export interface TextList {
  /** Sorts all matches. */
  gathered(hits: Hits): Fragment
  /** Walks the list; in the first pass only if matches are dense, and within the range of `near`. */
  walked(hits: Hits, isFirstPass: boolean): Fragment[]
}

/**
 * The first pass fetches only the matches a page needs. That is enough for rare words, which have no more, and for frequent ones, which
 * have that many at the start of the list. Only for words in between does a second pass fetch many more.
 * @param start number of the message at which the page starts, null for the first page
 */
export async function findByText(
  reader: AnyReader,
  text: TextSearch,
  page: PageRequest,
  start: number | null,
  list: TextList,
): Promise<RowKey[]> {
  const firstPass = firstPassStatement(text, page, start, list)
  const rows = await reader.all<{ at: RowKey['at'] | null; n: number }>(firstPass.sql, firstPass.values)
  const keys = rows.filter((row): row is RowKey => row.at !== null)
  if (keys.length > page.limit || keys.length === rows.length) return keys
  const { sql, values } = secondPassStatement(text, page, start, list)
  return reader.all<RowKey>(sql, values)
}

/** A row with `at` null means that the result may be incomplete. */
export function firstPassStatement(
  text: TextSearch,
  page: PageRequest,
  start: number | null,
  list: TextList,
): Fragment {
  const near = FIRST_PASS_PER_ENTRY * page.limit
  const few = text.kind === 'phrase' ? near : Math.max(near, FIRST_PASS_MATCHES)
  const hits = firstHits(text, { direction: page.direction, start, few, single: text.kind !== 'prefix' })
  const maybe = { sql: `SELECT NULL AS at, 0 AS n WHERE ${hits.areMany.sql}`, values: hits.areMany.values }
  return unionAll(hits.tables, [list.gathered(hits), ...list.walked(hits, true), maybe])
}

export function secondPassStatement(
  text: TextSearch,
  page: PageRequest,
  start: number | null,
  list: TextList,
): Fragment {
  // The cost of a prefix does not depend on the number of matches taken, so all are fetched at once.
  const hits =
    text.kind === 'prefix'
      ? allHits(text, FEW)
      : firstHits(text, { direction: page.direction, start, few: FEW, single: false })
  return unionAll(hits.tables, [list.gathered(hits), ...list.walked(hits, false)])
}
