// Keywords (RFC 9051 §2.3.2) and their changes: the four flags are stored in columns, all others in `message_keywords`.

import type { Fragment } from '../rows/folders.ts'
import type { Flags } from '../rows/records.ts'

/** The system keywords that are stored as flags (docs/design/mailbox.md §3). */
export const FLAG_KEYWORDS = {
  seen: '$seen',
  flagged: '$flagged',
  draft: '$draft',
  answered: '$answered',
} as const satisfies Record<keyof Flags, string>

/** The flags that are set by keywords. */
export function flagsOf(keywords: readonly string[]): Flags {
  const has = (flag: keyof Flags) => keywords.includes(FLAG_KEYWORDS[flag])
  return { seen: has('seen'), flagged: has('flagged'), draft: has('draft'), answered: has('answered') }
}

/** The distinct keywords that are not flags, sorted. */
export function labelsOf(keywords: readonly string[]): string[] {
  const flags = new Set<string>(Object.values(FLAG_KEYWORDS))
  return [...new Set(keywords)].filter((keyword) => !flags.has(keyword)).sort()
}

/** Keywords that mail programs set for themselves. */
const PROGRAM_KEYWORDS: ReadonlySet<string> = new Set(['junk', 'nonjunk', 'notjunk', 'forwarded', 'redirected'])

/** Whether a keyword is a label of people: not one of RFC 9051 §2.3.2, and not of a mail program. @param keyword in lower case */
export function isLabel(keyword: string): boolean {
  return !keyword.startsWith('$') && !PROGRAM_KEYWORDS.has(keyword)
}

/** Flags and labels as one sorted list of keywords. */
export function keywordsOf(flags: Flags, labels: readonly string[]): string[] {
  const set = (Object.keys(FLAG_KEYWORDS) as (keyof Flags)[]).filter((flag) => flags[flag])
  return set.length === 0 ? [...labels] : [...set.map((flag) => FLAG_KEYWORDS[flag]), ...labels].sort()
}

/** Flags of a folder entry. `deleted` is a flag of the entry alone; the others are those of its message. */
export const ENTRY_FLAGS = { seen: 1, flagged: 2, draft: 4, answered: 8, deleted: 16, labelled: 32 } as const

/** The flags of an entry of a message that has these flags and keywords, without `deleted`. */
export function entryFlags(flags: Flags, keywords: readonly string[]): number {
  const set = (Object.keys(FLAG_KEYWORDS) as (keyof Flags)[]).filter(
    (flag) => flags[flag] || keywords.includes(FLAG_KEYWORDS[flag]),
  )
  const labelled = labelsOf(keywords).length > 0 ? ENTRY_FLAGS.labelled : 0
  return set.reduce((sum, flag) => sum | ENTRY_FLAGS[flag], labelled)
}

/** The same for the message whose number is in `column`, for a scalar subquery. */
export function entryFlagsOf(column: string): string {
  return `SELECT seen + 2 * flagged + 4 * draft + 8 * answered + 32 * (keywords <> '[]') FROM messages WHERE n = ${column}`
}

/** Condition: the message has the keyword. */
export function hasKeyword(alias: string, account: number, keyword: string): Fragment {
  const flag = (Object.keys(FLAG_KEYWORDS) as (keyof Flags)[]).find((name) => FLAG_KEYWORDS[name] === keyword)
  if (flag) return { sql: `${alias}.${flag} = 1`, values: [] }
  return {
    sql: `${alias}.n IN (SELECT message FROM message_keywords WHERE account = ? AND keyword = ?)`,
    values: [account, keyword],
  }
}

/** Keywords are lower-case and include those of the flags (`$seen` …). */
export type SetChange =
  | { add?: readonly string[] | undefined; remove?: readonly string[] | undefined }
  | { set: readonly string[] }

/** Maximum keywords of a message (docs/design/mailbox.md §3). */
export const KEYWORDS_MAX = 100
/** Messages that join its thread are filed in the Archive (docs/design/webmail.md §7). */
export const MUTED = '$muted'
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
