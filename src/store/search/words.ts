// Word segmentation: the form in which both indexed texts and search queries are passed to FTS5.

import { CharacterClasses } from './character-classes.ts'

/** A word in the form of the index, and its position in the text (UTF-16 code units, `end` exclusive). */
export interface WordPosition {
  word: string
  start: number
  end: number
}

// Compatibility variants of characters: radicals, jamo, enclosed and squared forms, compatibility ideographs, full-width and half-width
// forms, and voicing marks of kana. They can combine with the preceding character: then both are normalised together.
const VARIANT =
  '[\\u1100-\\u11ff\\u2e80-\\u2fdf\\u3099\\u309a\\u3130-\\u318f\\u3200-\\u33ff\\ua960-\\ua97f\\ud7b0-\\ud7ff\\uf900-\\ufaff\\uff10-\\uff19\\uff21-\\uff3a\\uff41-\\uff5a\\uff66-\\uffdc\\u{2f800}-\\u{2fa1f}]'
const COMBINING = '[\\u1160-\\u11ff\\u3099\\u309a\\u314f-\\u3163\\ud7b0-\\ud7ff\\uff9e\\uff9f\\uffc2-\\uffdc]'
const VARIANT_SEQUENCE = `(?:[\\u3041-\\u30ff\\uac00-\\ud7a3](?=${COMBINING})|${VARIANT})${COMBINING}*`
const NOT_NORMALISED = new RegExp(VARIANT_SEQUENCE, 'gv')
const UNIT = new RegExp(`${VARIANT_SEQUENCE}|[^]`, 'gv')

// The token characters of FTS5's unicode61 (categories L*, N*, Co), and marks, which belong to the letter before them.
const TOKEN = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu

/** A character that segmentation may change: all are above. On a text of one byte per character this is decided at once. */
const ABOVE_LATIN_1 = /[\u0100-\uffff]/

const characterClasses = new CharacterClasses()

/**
 * Normalises compatibility variants and inserts spaces so that FTS5 (unicode61 remove_diacritics 2) recognises the words. Most texts
 * are returned unchanged; texts in scripts without spaces between words grow to two or three times their length.
 */
export function segmentText(text: string): string {
  if (!ABOVE_LATIN_1.test(text)) return text
  return characterClasses.normalise(text.replace(NOT_NORMALISED, (character) => character.normalize('NFKC')))
}

/** The words of a text, not folded: letters, digits and their marks. */
export function tokensOf(text: string): string[] {
  return segmentText(text.toWellFormed()).match(TOKEN) ?? []
}

/** The words of each run of token characters: several words per run in scripts without spaces. */
export function wordGroups(text: string): string[][] {
  const groups = text.match(TOKEN) ?? []
  return groups.map(tokensOf).filter((tokens) => tokens.length > 0)
}

/** The folded words of a text with their positions, in order; computed lazily. */
export function* wordPositions(text: string): Generator<WordPosition> {
  for (const { 0: run, index } of text.toWellFormed().matchAll(/\S+/g)) {
    if (segmentText(run) === run) yield* positionsOfTokens(run, (at) => index + at)
    else yield* positionsInside(run, index)
  }
}

/** Folds a word as FTS5's unicode61 with remove_diacritics 2 does: lower case, Latin letters without diacritics. */
export function foldWord(word: string): string {
  if (/^[\x00-\x7f]*$/.test(word)) return word.toLowerCase()
  let folded = ''
  for (const character of word) folded += foldedCharacters.get(character) ?? foldCharacter(character)
  return folded
}

/** Cache of folded letters: folding one takes a microsecond. */
const foldedCharacters = new Map<string, string>()
const CACHE_MAX = 10_000

function foldCharacter(character: string): string {
  const folded = computeFold(character)
  if (foldedCharacters.size >= CACHE_MAX) foldedCharacters.clear()
  foldedCharacters.set(character, folded)
  return folded
}

function computeFold(character: string): string {
  const [base = character] = character.normalize('NFD')
  const withoutMarks = /[A-Za-z]/.test(base) ? base : character
  // Forms of one letter (ſ and s, ς and σ) have the same capital.
  const capital = withoutMarks.toUpperCase()
  return (capital.length === withoutMarks.length ? capital : withoutMarks).toLowerCase().replace(/[\u0300-\u0331]/, '')
}

function* positionsOfTokens(segmented: string, start: (at: number) => number, end = start): Generator<WordPosition> {
  for (const { 0: token, index } of segmented.matchAll(TOKEN)) {
    yield { word: foldWord(token), start: start(index), end: end(index + token.length) }
  }
}

/** Word positions in a run that segmentation changes: segmented unit by unit, with the source position of each code unit. */
function* positionsInside(run: string, from: number): Generator<WordPosition> {
  let segmented = ''
  let starts: number[] = []
  let ends: number[] = [from]
  const pendingWords = () =>
    positionsOfTokens(
      segmented,
      (at) => starts[at]!,
      (at) => ends[at]!,
    )
  for (const { 0: unit, index } of run.matchAll(UNIT)) {
    const [start, end] = [from + index, from + index + unit.length]
    const isWord = characterClasses.isWord(unit) && unit.normalize('NFKC') === unit
    const segment = isWord ? ' ' : segmentUnit(unit)
    segmented += segment
    for (let i = 0; i < segment.length; i++) {
      starts.push(start)
      ends.push(end)
    }
    if (!segment.endsWith(' ')) continue
    yield* pendingWords()
    if (isWord) yield { word: unit, start, end }
    segmented = ''
    starts = []
    ends = [end]
  }
  yield* pendingWords()
}

/** Cache of segmented units; longer units are rare. */
const segmentedUnits = new Map<string, string>()
const CACHED_LENGTH = 4

function segmentUnit(unit: string): string {
  const cached = segmentedUnits.get(unit)
  if (cached !== undefined) return cached
  const segmented = segmentText(unit)
  if (segmentedUnits.size >= CACHE_MAX) segmentedUnits.clear()
  if (unit.length <= CACHED_LENGTH) segmentedUnits.set(unit, segmented)
  return segmented
}
