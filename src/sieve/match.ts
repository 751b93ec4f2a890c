// Compares values of a message with the keys of a test (RFC 5228 2.7, RFC 5231 4).

import { compare } from './comparators.ts'
import { type Glob, matchesGlob, searchSteps, wildcardsIn } from './glob.ts'
import type { WorkMeter } from './meter.ts'
import type { Relation, SieveMatch } from './script.ts'
import { SieveValue } from './value.ts'

/** Steps counted for comparing even the shortest value with the shortest key. */
const PAIR_STEPS = 16

/** Takes the wildcards of the pattern that matched. */
export type OnWildcards = (matched: readonly string[]) => void

/**
 * Whether any value matches any key.
 * @param onWildcards is called for the first value that matches a pattern of ":matches"
 * @throws SieveRuntimeError when the script exceeds its steps
 */
export function matchesAny(
  values: Iterable<SieveValue>,
  match: SieveMatch,
  meter: WorkMeter,
  onWildcards?: OnWildcards,
): boolean {
  for (const value of values) {
    // Counted even for empty values.
    meter.spend(PAIR_STEPS * (1 + Math.max(match.keys.length, match.type === 'matches' ? match.globs.length : 0)))
    const folded = value.foldedFor(match.comparator, meter)
    if (!matchesOne(folded, match, meter)) continue
    if (match.type === 'matches' && onWildcards) onWildcards(wildcards(value.octets, folded, match.globs, meter))
    return true
  }
  return false
}

/** The same for how many there are. @throws SieveRuntimeError */
export function matchesCount(count: number, match: SieveMatch, meter: WorkMeter): boolean {
  return matchesAny([new SieveValue(String(count))], match, meter)
}

function wildcards(value: string, folded: string, globs: readonly Glob[], meter: WorkMeter): string[] {
  const glob = globs.find((one) => matchesGlob(folded, one, meter))!
  return [value, ...wildcardsIn(value, folded, glob, meter)]
}

function matchesOne(value: string, match: SieveMatch, meter: WorkMeter): boolean {
  const { comparator, keys } = match
  switch (match.type) {
    case 'matches':
      return match.globs.some((glob) => matchesGlob(value, glob, meter))
    case 'contains':
      return keys.some((key) => {
        meter.spend(searchSteps(value.length, key.length))
        return value.includes(key)
      })
    case 'is':
      return keys.some((key) => {
        meter.spend(Math.min(value.length, key.length))
        return value === key
      })
    default:
      return keys.some((key) => {
        meter.spend(Math.min(value.length, key.length))
        return holds(compare(value, key, comparator), match.relation)
      })
  }
}

function holds(order: number, relation: Relation): boolean {
  switch (relation) {
    case 'gt':
      return order > 0
    case 'ge':
      return order >= 0
    case 'lt':
      return order < 0
    case 'le':
      return order <= 0
    case 'eq':
      return order === 0
    default:
      return order !== 0
  }
}
