// The patterns of ":matches": * is any run of octets, ? any one, and a backslash takes the next one for itself (RFC 5228 2.7.1).

import type { Meter } from './meter.ts'

/** What stands between two stars. */
interface Stretch {
  /** Null stands for any one octet. */
  octets: (string | null)[]
  /** The whole of it where no octet is left open: found by search. */
  text: string | null
}

/** A pattern cut at its stars: the first stretch stands at the start, the last at the end, the others somewhere in between. */
export type Glob = Stretch[]

export function readGlob(pattern: string): Glob {
  const stretches: (string | null)[][] = [[]]
  for (let at = 0; at < pattern.length; at++) {
    const octet = pattern[at]!
    if (octet === '*') stretches.push([])
    else if (octet === '?') stretches.at(-1)!.push(null)
    else if (octet === '\\' && at + 1 < pattern.length) stretches.at(-1)!.push(pattern[++at]!)
    else stretches.at(-1)!.push(octet)
  }
  return stretches.map((octets) => ({ octets, text: octets.includes(null) ? null : octets.join('') }))
}

/**
 * Whether the whole of a value is of the form. Each stretch is taken at the first place it is found: were there a match with
 * a later one, there would be one with this too. So nothing is tried twice, however many stars there are.
 */
export function matchesGlob(value: string, glob: Glob, meter: Meter): boolean {
  const first = glob[0]!
  const last = glob.at(-1)!
  const inner = glob.slice(1, -1)
  meter.spend(first.octets.length + last.octets.length)
  if (!standsAt(value, 0, first)) return false
  if (glob.length === 1) return value.length === first.octets.length
  const end = value.length - last.octets.length
  let at = first.octets.length
  if (end < at || !standsAt(value, end, last)) return false
  for (const stretch of inner) {
    const found = find(value, at, stretch, meter)
    if (found < 0) return false
    at = found + stretch.octets.length
    if (at > end) return false
  }
  return true
}

function standsAt(value: string, at: number, { octets, text }: Stretch): boolean {
  if (text !== null) return value.startsWith(text, at)
  if (at + octets.length > value.length) return false
  return octets.every((octet, index) => octet === null || octet === value[at + index])
}

function find(value: string, from: number, stretch: Stretch, meter: Meter): number {
  const { octets, text } = stretch
  if (text !== null) {
    meter.spend(searchSteps(value.length - from, text.length))
    return value.indexOf(text, from)
  }
  for (let at = from; at + octets.length <= value.length; at++) {
    // One that starts with ? has to be compared for longer.
    meter.spend(octets.length)
    if (standsAt(value, at, stretch)) return at
  }
  return -1
}

/** What a search costs at most: it looks at two octets in the time others look at one, but compares long texts many times over. */
export function searchSteps(length: number, sought: number): number {
  return Math.ceil((length * (1 + sought / 16)) / 2) + sought
}
