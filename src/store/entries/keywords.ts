// Keywords (RFC 9051 §2.3.2): the four flags are stored in columns, all others in `message_keywords`.

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
