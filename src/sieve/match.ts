// Compares values of a mail with the keys of a test (RFC 5228 2.7, RFC 5231 4).

import { compare } from './comparators.ts'
import { matchesGlob, searchSteps } from './glob.ts'
import type { Meter } from './meter.ts'
import type { Match, Relation } from './script.ts'
import { Value } from './value.ts'

/** What it takes to compare the shortest value with the shortest key. */
const PAIR_STEPS = 16

/** Whether any value matches any key. @throws RunFault when the script has worked too much */
export function matchesAny(values: Iterable<Value>, match: Match, meter: Meter): boolean {
  for (const value of values) {
    // However short they are.
    meter.spend(PAIR_STEPS * (1 + Math.max(match.keys.length, match.type === 'matches' ? match.globs.length : 0)))
    if (matchesOne(value.under(match.comparator, meter), match, meter)) return true
  }
  return false
}

/** The same for how many there are. @throws RunFault */
export function matchesCount(count: number, match: Match, meter: Meter): boolean {
  return matchesAny([new Value(String(count))], match, meter)
}

function matchesOne(value: string, match: Match, meter: Meter): boolean {
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
