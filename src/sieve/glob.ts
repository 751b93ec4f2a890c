// Patterns of ":matches": * matches any octets, ? any single octet, and a backslash escapes the next one (RFC 5228 2.7.1).

import type { WorkMeter } from './meter.ts'

/** The octets between two stars. */
interface GlobSegment {
  /** Null matches any single octet. */
  octets: (string | null)[]
  /** The whole segment as text when it has no `?`: then it is found by search. */
  text: string | null
}

/** A pattern split at its stars: the first segment matches at the start, the last at the end, the others in between. */
export type Glob = GlobSegment[]

export function readGlob(pattern: string): Glob {
  const segments: (string | null)[][] = [[]]
  for (let at = 0; at < pattern.length; at++) {
    const octet = pattern[at]!
    if (octet === '*') segments.push([])
    else if (octet === '?') segments.at(-1)!.push(null)
    else if (octet === '\\' && at + 1 < pattern.length) segments.at(-1)!.push(pattern[++at]!)
    else segments.at(-1)!.push(octet)
  }
  return segments.map((octets) => ({ octets, text: octets.includes(null) ? null : octets.join('') }))
}

/**
 * Whether the whole value matches. Each segment is matched at its first occurrence: if there is a match with
 * a later occurrence, there is one with the first, too. So there is no backtracking, however many stars there are.
 */
export function matchesGlob(value: string, glob: Glob, meter: WorkMeter): boolean {
  const first = glob[0]!
  const last = glob.at(-1)!
  const inner = glob.slice(1, -1)
  meter.spend(first.octets.length + last.octets.length)
  if (!standsAt(value, 0, first)) return false
  if (glob.length === 1) return value.length === first.octets.length
  const end = value.length - last.octets.length
  let at = first.octets.length
  if (end < at || !standsAt(value, end, last)) return false
  for (const segment of inner) {
    const found = find(value, at, segment, meter)
    if (found < 0) return false
    at = found + segment.octets.length
    if (at > end) return false
  }
  return true
}

/** What each wildcard matches in a value that the pattern matches, as little as possible (RFC 5229 §3.2). */
export function wildcardsIn(value: string, folded: string, glob: Glob, meter: WorkMeter): string[] {
  const matched: string[] = []
  let at = 0
  for (const [number, segment] of glob.entries()) {
    const isLast = number === glob.length - 1
    const start = number === 0 ? 0 : isLast ? folded.length - segment.octets.length : find(folded, at, segment, meter)
    if (number > 0) matched.push(value.slice(at, start))
    for (const [index, octet] of segment.octets.entries()) if (octet === null) matched.push(value[start + index]!)
    at = start + segment.octets.length
  }
  return matched
}

function standsAt(value: string, at: number, { octets, text }: GlobSegment): boolean {
  if (text !== null) return value.startsWith(text, at)
  if (at + octets.length > value.length) return false
  return octets.every((octet, index) => octet === null || octet === value[at + index])
}

function find(value: string, from: number, segment: GlobSegment, meter: WorkMeter): number {
  const { octets, text } = segment
  if (text !== null) {
    meter.spend(searchSteps(value.length - from, text.length))
    return value.indexOf(text, from)
  }
  for (let at = from; at + octets.length <= value.length; at++) {
    // A segment with ? cannot be searched for.
    meter.spend(octets.length)
    if (standsAt(value, at, segment)) return at
  }
  return -1
}

/** Maximum cost of a substring search: it examines two octets per step, but compares long texts repeatedly. */
export function searchSteps(length: number, sought: number): number {
  return Math.ceil((length * (1 + sought / 16)) / 2) + sought
}
