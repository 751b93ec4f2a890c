// Changes of keywords, as edits of single messages and of many at once apply them.

/** Keywords are lower-case and include those of the flags (`$seen` …). */
export type SetChange =
  | { add?: readonly string[] | undefined; remove?: readonly string[] | undefined }
  | { set: readonly string[] }

/** Maximum keywords of a message (docs/design/mailbox.md §3). */
export const KEYWORDS_MAX = 100
export const JUNK = '$junk'
export const NOT_JUNK = '$notjunk'

/** The members after the change, each once. */
export function applySetChange(before: readonly string[], change: SetChange | undefined): string[] {
  if (change === undefined) return [...before]
  if ('set' in change) return [...new Set(change.set)]
  const removed = new Set(change.remove ?? [])
  return [...new Set([...before.filter((item) => !removed.has(item)), ...(change.add ?? [])])]
}

/** Whether two lists without repetitions have the same members. */
export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item))
}

/** `$junk` and `$notjunk` exclude each other: the one that `after` adds to `before` removes the other. */
export function withoutOpposite(before: readonly string[], after: readonly string[]): string[] {
  const isAdded = (keyword: string) => after.includes(keyword) && !before.includes(keyword)
  const dropped = isAdded(JUNK) ? NOT_JUNK : isAdded(NOT_JUNK) ? JUNK : null
  return after.filter((keyword) => keyword !== dropped)
}

/**
 * Whether a change would give a message too many keywords. One that has more than the maximum already, because a reply marked it
 * `$answered`, can still be changed otherwise.
 */
export function isTooMany(before: readonly string[], after: readonly string[]): boolean {
  return after.length > KEYWORDS_MAX && after.length > before.length
}
