// Generated queries with their meaning, to compare a search with a model.

import type { FolderRole } from '../../src/store/rows/records.ts'
import type { Random } from './random.ts'

/** A query: its text, a predicate for messages, and the hidden folders it includes. */
export interface GeneratedQuery<M> {
  text: string
  matches(message: M): boolean
  opens: ReadonlySet<FolderRole | 'all'>
}

export function generatedQuery<M>(
  text: string,
  matches: (message: M) => boolean,
  opens: (FolderRole | 'all')[] = [],
): GeneratedQuery<M> {
  return { text, matches, opens: new Set(opens) }
}

/** A query with groups, alternatives and negations of `term`. */
export function combined<M>(random: Random, term: () => GeneratedQuery<M>, depth: number): GeneratedQuery<M> {
  const roll = depth === 0 ? 0 : random.next()
  if (roll < 0.5) return term()
  if (roll < 0.65) return negated(random, combined(random, term, depth - 1))
  const parts = Array.from({ length: 2 + random.below(2) }, () => combined(random, term, depth - 1))
  return roll < 0.85 ? together(parts) : alternatives(parts)
}

function opened<M>(parts: readonly GeneratedQuery<M>[]): (FolderRole | 'all')[] {
  return parts.flatMap(({ opens }) => [...opens])
}

function together<M>(parts: readonly GeneratedQuery<M>[]): GeneratedQuery<M> {
  const text = parts.map((part) => part.text).join(' ')
  return generatedQuery(text, (message) => parts.every((part) => part.matches(message)), opened(parts))
}

function alternatives<M>(parts: readonly GeneratedQuery<M>[]): GeneratedQuery<M> {
  const text = `(${parts.map((part) => part.text).join(' OR ')})`
  return generatedQuery(text, (message) => parts.some((part) => part.matches(message)), opened(parts))
}

function negated<M>(random: Random, part: GeneratedQuery<M>): GeneratedQuery<M> {
  // A folder under NOT includes nothing, so terms with folders are not negated.
  if (part.opens.size > 0) return part
  const text = `${random.chance(0.5) ? '-' : 'NOT '}(${part.text})`
  return generatedQuery(text, (message) => !part.matches(message))
}
