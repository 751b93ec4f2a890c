// Where the words of a search stand in a text: judged by the words the search itself is made of.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Term } from './terms.ts'
import { foldWord, type PlacedWord, placedWords } from './words.ts'

/** From `start` up to `end` (exclusive), in UTF-16 code units. */
export interface TextRange {
  start: number
  end: number
}

/** A piece of a text, and what of it was searched for: in order, without overlaps. */
export interface HighlightedText {
  text: string
  hits: TextRange[]
}

/** Words that stand next to each other, as the index spells them; with `prefix` the last one may go on. */
export interface SearchTerms {
  words: string[]
  prefix: boolean
}

/** Text around the first hit that is handed on, in code units: more than any snippet shows. */
const BEFORE = 200
const BEHIND = 1000
/** Words after which others have their turn, some milliseconds of them. */
const WORDS_A_TURN = 8192

/** The words a search wants to find in one part of a message; what stands under a NOT is not wanted. */
export function searchTermsIn(term: Term, part: 'subject' | 'body'): SearchTerms[] {
  if (term.kind === 'all' || term.kind === 'any') return term.of.flatMap((child) => searchTermsIn(child, part))
  if (term.kind !== 'words' || (term.part !== part && term.part !== 'any')) return []
  return [{ words: term.tokens.map(foldWord), prefix: term.prefix }]
}

/** The whole text with all that was found in it; null when nothing was. */
export function wholeExcerpt(text: string, sought: readonly SearchTerms[]): HighlightedText | null {
  const found = text.toWellFormed()
  const hits = joined([...hitsIn(found, sought)].filter((hit) => hit !== null))
  return hits.length === 0 ? null : { text: found, hits }
}

/** The text around the first thing that was found in it; null when nothing was. Others have their turn on the way through it. */
export async function firstExcerpt(text: string, sought: readonly SearchTerms[]): Promise<HighlightedText | null> {
  const found = text.toWellFormed()
  const hits: TextRange[] = []
  for (const hit of hitsIn(found, sought)) {
    if (hit === null) {
      await nextTurn()
      continue
    }
    if (hits.length > 0 && hit.start >= hits[0]!.start + BEHIND) break
    hits.push(hit)
  }
  const [first] = hits
  if (first === undefined) return null
  const near = Math.max(0, first.start - BEFORE)
  // No half characters at the edges.
  const from = /[\udc00-\udfff]/.test(found[near]!) ? near + 1 : near
  const cut = found.slice(from, first.start + BEHIND).replace(/[\ud800-\udbff]$/, '')
  const inside = hits.map(({ start, end }) => ({ start: start - from, end: Math.min(end - from, cut.length) }))
  return { text: cut, hits: joined(inside) }
}

/** One after another by where they begin, so that nobody has to look further than he wants; null after every WORDS_A_TURN words. */
function* hitsIn(text: string, sought: readonly SearchTerms[]): Generator<TextRange | null> {
  if (sought.length === 0) return
  const longest = Math.max(...sought.map(({ words }) => words.length))
  const ahead: PlacedWord[] = []
  const places = placedWords(text)
  for (let seen = 1; ; seen++) {
    if (seen % WORDS_A_TURN === 0) yield null
    while (ahead.length < longest) {
      const { value } = places.next()
      if (value === undefined) break
      ahead.push(value)
    }
    if (ahead.length === 0) return
    let end = 0
    for (const one of sought) if (begins(ahead, one)) end = Math.max(end, ahead[one.words.length - 1]!.end)
    if (end > 0) yield { start: ahead[0]!.start, end }
    ahead.shift()
  }
}

function begins(places: readonly PlacedWord[], { words, prefix }: SearchTerms): boolean {
  return words.every((word, at) => {
    const there = places[at]?.word
    return there === word || (prefix && at === words.length - 1 && there?.startsWith(word) === true)
  })
}

/** What overlaps or follows at once becomes one. */
function joined(hits: readonly TextRange[]): TextRange[] {
  const apart: TextRange[] = []
  for (const { start, end } of hits) {
    const last = apart.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else apart.push({ start, end })
  }
  return apart
}
