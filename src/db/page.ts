// Keyset pages: where a list goes on, whatever is inserted meanwhile.

/** The sort values of the last row of a page; surfaces sign and encode it. */
export type PageKey = (string | number)[]

/** One page of a list: `next` is where the following page starts, null at the end. */
export interface Page<T> {
  items: T[]
  next: PageKey | null
}

/**
 * Makes a page out of `limit + 1` rows: the extra row only says that there is more.
 * @param keyOf the sort values of a row, in the order of the list
 */
export function pageOf<R, T>(rows: R[], limit: number, keyOf: (row: R) => PageKey, present: (row: R) => T): Page<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown.map(present), next: rows.length > limit && last !== undefined ? keyOf(last) : null }
}
