// How a list is found by text: few matches are gathered and sorted, for many the list is walked in its own order.

import type { Reader } from '../../db/db.ts'
import type { Fragment } from '../folders.ts'
import { allHits, firstHits, type Hits, type TextSearch } from './hits.ts'
import { type PageRequest, type RowKey, union } from './sql.ts'

/** Up to here matches are few. Sorting them costs less than walking past everything between so many. */
export const FEW = 1000
// What a first glance takes; of costly matches no more than tells whether they lie close together.
const GLANCE = 400
const GLANCE_PER_ENTRY = 3

/** A list that can be found both ways. Each part is a SELECT of `at` and `n`, in the order of the list and cut. */
export interface TextList {
  /** Everything found among all matches. */
  gathered(hits: Hits): Fragment
  /** Everything found on a walk; with `glance` only where matches lie close together, as far as `near` reaches. */
  walked(hits: Hits, glance: boolean): Fragment[]
}

/**
 * The first glance takes what a page needs: a rare word has no more matches than that, and of a frequent one so many lie at the
 * start of the list. Only what lies between is looked at again with many more.
 * @param start number of a message from which on the page starts, null for the first page
 */
export async function findByText(
  reader: Reader,
  text: TextSearch,
  cut: PageRequest,
  start: number | null,
  list: TextList,
): Promise<RowKey[]> {
  const glance = glanceStatement(text, cut, start, list)
  const seen = await reader.all<{ at: RowKey['at'] | null; n: number }>(glance.sql, glance.values)
  const places = seen.filter((row): row is RowKey => row.at !== null)
  if (places.length > cut.limit || places.length === seen.length) return places
  const { sql, values } = wholeStatement(text, cut, start, list)
  return reader.all<RowKey>(sql, values)
}

/** A row without a place says that what is found may not be all. */
export function glanceStatement(text: TextSearch, cut: PageRequest, start: number | null, list: TextList): Fragment {
  const near = GLANCE_PER_ENTRY * cut.limit
  const few = text.kind === 'phrase' ? near : Math.max(near, GLANCE)
  const hits = firstHits(text, { direction: cut.direction, start, few, single: text.kind !== 'prefix' })
  const maybe = { sql: `SELECT NULL AS at, 0 AS n WHERE ${hits.areMany.sql}`, values: hits.areMany.values }
  return union(hits.tables, [list.gathered(hits), ...list.walked(hits, true), maybe])
}

export function wholeStatement(text: TextSearch, cut: PageRequest, start: number | null, list: TextList): Fragment {
  // A prefix costs the same whether few or all of its matches are taken, so they are taken once.
  const hits =
    text.kind === 'prefix'
      ? allHits(text, FEW)
      : firstHits(text, { direction: cut.direction, start, few: FEW, single: false })
  return union(hits.tables, [list.gathered(hits), ...list.walked(hits, false)])
}
