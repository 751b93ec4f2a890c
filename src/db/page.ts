// Keyset pagination: stable while rows are inserted.

/** The sort values of the last row of a page; the API encodes and signs it as the cursor. */
export type PageKey = (string | number)[]

/** One page of a list: `next` is the key of the next page, null at the end. */
export interface Page<T> {
  items: T[]
  next: PageKey | null
}

/**
 * Makes a page from up to `limit + 1` rows: the extra row only indicates that there are more.
 * @param keyOf the sort values of a row, in the order of the list
 */
export function pageOf<R, T = R>(
  rows: R[],
  limit: number,
  keyOf: (row: R) => PageKey,
  present: (row: R) => T = (row) => row as unknown as T,
): Page<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { items: shown.map(present), next: rows.length > limit && last !== undefined ? keyOf(last) : null }
}
