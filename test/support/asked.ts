// Queries made together with what they mean, so that a test can hold a search against a plain model.

import type { FolderRole } from '../../src/store/records.ts'
import type { Random } from './random.ts'

/** One query: its text, what it means for a message, and which hidden folders it opens. */
export interface Asked<M> {
  text: string
  matches(message: M): boolean
  opens: ReadonlySet<FolderRole | 'all'>
}

export function asking<M>(
  text: string,
  matches: (message: M) => boolean,
  opens: (FolderRole | 'all')[] = [],
): Asked<M> {
  return { text, matches, opens: new Set(opens) }
}

/** A query that may hold groups, alternatives and negations of `term`. */
export function combined<M>(random: Random, term: () => Asked<M>, depth: number): Asked<M> {
  const roll = depth === 0 ? 0 : random.next()
  if (roll < 0.5) return term()
  if (roll < 0.65) return negated(random, combined(random, term, depth - 1))
  const parts = Array.from({ length: 2 + random.below(2) }, () => combined(random, term, depth - 1))
  return roll < 0.85 ? together(parts) : alternatives(parts)
}

function opened<M>(parts: readonly Asked<M>[]): (FolderRole | 'all')[] {
  return parts.flatMap(({ opens }) => [...opens])
}

function together<M>(parts: readonly Asked<M>[]): Asked<M> {
  const text = parts.map((part) => part.text).join(' ')
  return asking(text, (message) => parts.every((part) => part.matches(message)), opened(parts))
}

function alternatives<M>(parts: readonly Asked<M>[]): Asked<M> {
  const text = `(${parts.map((part) => part.text).join(' OR ')})`
  return asking(text, (message) => parts.some((part) => part.matches(message)), opened(parts))
}

function negated<M>(random: Random, part: Asked<M>): Asked<M> {
  // A folder under a NOT opens nothing, so terms that open folders are left to stand as they are.
  if (part.opens.size > 0) return part
  const text = `${random.chance(0.5) ? '-' : 'NOT '}(${part.text})`
  return asking(text, (message) => !part.matches(message))
}
