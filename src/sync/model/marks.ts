// Flags of IMAP and the keywords of the store: how each is written on the other side, and how the base keeps them.

import { DELETED, type Marks } from './merge.ts'

/** System flags, with their bits in the base. */
const SYSTEM = [
  { flag: '\\Seen', mark: '$seen', bit: 1 },
  { flag: '\\Flagged', mark: '$flagged', bit: 2 },
  { flag: '\\Draft', mark: '$draft', bit: 4 },
  { flag: '\\Answered', mark: '$answered', bit: 8 },
  { flag: '\\Deleted', mark: DELETED, bit: 16 },
] as const

/** Keywords of a message that are taken from a server; a message here may have 100. */
const KEYWORDS_MAX = 80
const KEYWORD_CHARS = 255
/** RFC 9051 `flag-keyword`: an atom. */
const ATOM = /^[!#$&'+,\-./0-9:;<=>?@A-Z[^_`a-z|}~]+$/
/** Flags as a server writes them as marks, sorted; what is not kept here is left out. */
export function marksOf(flags: readonly string[]): string[] {
  const marks = new Set<string>()
  let keywords = 0
  for (const flag of flags) {
    const known = SYSTEM.find((one) => one.flag.toLowerCase() === flag.toLowerCase())
    if (known !== undefined) marks.add(known.mark)
    else if (isKeyword(flag) && keywords++ < KEYWORDS_MAX) marks.add(flag.toLowerCase())
  }
  return [...marks].sort()
}

/** A mark as it is written to a server. */
export function flagOf(mark: string): string {
  return SYSTEM.find((one) => one.mark === mark)?.flag ?? mark
}

/** Whether a server takes a mark. @param keywords that it keeps; null: all */
export function takenBy(keywords: readonly string[] | null): (mark: string) => boolean {
  const taken = keywords && new Set(keywords.map((keyword) => keyword.toLowerCase()))
  return (mark) => {
    if (SYSTEM.some((one) => one.mark === mark)) return true
    return isKeyword(mark) && (taken === null || taken.has(mark))
  }
}

/** Marks as the base keeps them. */
export function packMarks(marks: Marks): { flags: number; keywords: string | null } {
  const flags = SYSTEM.reduce((sum, { mark, bit }) => (marks.includes(mark) ? sum + bit : sum), 0)
  const keywords = marks.filter((mark) => !SYSTEM.some((one) => one.mark === mark))
  return { flags, keywords: keywords.length === 0 ? null : JSON.stringify(keywords) }
}

export function unpackMarks(flags: number, keywords: string | null): string[] {
  const marks: string[] = SYSTEM.filter(({ bit }) => (flags & bit) !== 0).map(({ mark }) => mark)
  return [...marks, ...(keywords === null ? [] : (JSON.parse(keywords) as string[]))].sort()
}

/** The keywords of the store among marks. */
export function keywordsIn(marks: Marks): string[] {
  return marks.filter((mark) => mark !== DELETED)
}

function isKeyword(flag: string): boolean {
  return !flag.startsWith('\\') && flag.length <= KEYWORD_CHARS && ATOM.test(flag)
}
