// Highlighting: finds the terms of a search in a text, with the same word segmentation as the index.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Term } from './terms.ts'
import { foldWord, type WordPosition, wordPositions } from './words.ts'

/** From `start` up to `end` (exclusive), in UTF-16 code units. */
export interface TextRange {
  start: number
  end: number
}

/** An excerpt, and the ranges in it that match: in order, without overlaps. */
export interface HighlightedText {
  text: string
  hits: TextRange[]
}

/** Adjacent words in the form of the index; with `prefix` the last one is a prefix. */
export interface SearchTerms {
  words: string[]
  prefix: boolean
}

/** Code units of text around the first hit; more than any snippet shows. */
const CHARS_BEFORE = 200
const CHARS_AFTER = 1000
/** Words processed before yielding to other work; takes some milliseconds. */
const WORDS_PER_TURN = 8192

/** The words of a search for one part of a message, without those under a NOT. */
export function searchTermsIn(term: Term, part: 'subject' | 'body'): SearchTerms[] {
  if (term.kind === 'all' || term.kind === 'any') return term.of.flatMap((child) => searchTermsIn(child, part))
  if (term.kind !== 'words' || (term.part !== part && term.part !== 'any')) return []
  return [{ words: term.tokens.map(foldWord), prefix: term.prefix }]
}

/** The whole text with all hits; null if there are none. */
export function highlightAll(text: string, terms: readonly SearchTerms[]): HighlightedText | null {
  const wellFormed = text.toWellFormed()
  const hits = mergeRanges([...hitsIn(wellFormed, terms)].filter((hit) => hit !== null))
  return hits.length === 0 ? null : { text: wellFormed, hits }
}

/** An excerpt around the first hit; null if there is none. Yields to other work while searching. */
export async function firstExcerpt(text: string, terms: readonly SearchTerms[]): Promise<HighlightedText | null> {
  const wellFormed = text.toWellFormed()
  const hits: TextRange[] = []
  for (const hit of hitsIn(wellFormed, terms)) {
    if (hit === null) {
      await nextTurn()
      continue
    }
    if (hits.length > 0 && hit.start >= hits[0]!.start + CHARS_AFTER) break
    hits.push(hit)
  }
  const [first] = hits
  if (first === undefined) return null
  const near = Math.max(0, first.start - CHARS_BEFORE)
  // Do not split surrogate pairs at the edges.
  const from = /[\udc00-\udfff]/.test(wellFormed[near]!) ? near + 1 : near
  const excerpt = wellFormed.slice(from, first.start + CHARS_AFTER).replace(/[\ud800-\udbff]$/, '')
  const inside = hits.map(({ start, end }) => ({ start: start - from, end: Math.min(end - from, excerpt.length) }))
  return { text: excerpt, hits: mergeRanges(inside) }
}

/** Yields hits lazily in order of their start, and null after every WORDS_PER_TURN words. */
function* hitsIn(text: string, terms: readonly SearchTerms[]): Generator<TextRange | null> {
  if (terms.length === 0) return
  const longest = Math.max(...terms.map(({ words }) => words.length))
  const ahead: WordPosition[] = []
  const positions = wordPositions(text)
  for (let seen = 1; ; seen++) {
    if (seen % WORDS_PER_TURN === 0) yield null
    while (ahead.length < longest) {
      const { value } = positions.next()
      if (value === undefined) break
      ahead.push(value)
    }
    if (ahead.length === 0) return
    let end = 0
    for (const entry of terms)
      if (startsWithTerms(ahead, entry)) end = Math.max(end, ahead[entry.words.length - 1]!.end)
    if (end > 0) yield { start: ahead[0]!.start, end }
    ahead.shift()
  }
}

function startsWithTerms(positions: readonly WordPosition[], { words, prefix }: SearchTerms): boolean {
  return words.every((word, index) => {
    const candidate = positions[index]?.word
    return candidate === word || (prefix && index === words.length - 1 && candidate?.startsWith(word) === true)
  })
}

/** Merges overlapping and adjacent ranges. */
function mergeRanges(hits: readonly TextRange[]): TextRange[] {
  const merged: TextRange[] = []
  for (const { start, end } of hits) {
    const last = merged.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else merged.push({ start, end })
  }
  return merged
}
