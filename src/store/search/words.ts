// How a text becomes words: the one form in which texts go into the full-text index and in which searches are asked of it.

import { Letters } from './letters.ts'

/** A word of a text as the index holds it, and where it stands in the text (UTF-16, `end` exclusive). */
export interface PlacedWord {
  word: string
  start: number
  end: number
}

// Other spellings of the same characters: radicals, jamo, enclosed and squared forms, compatibility ideographs, full-width and half-width
// forms, and marks that voice kana. Behind a character they may be one with it: then it is spelled anew together with them.
const OTHER_SPELLING =
  '[\\u1100-\\u11ff\\u2e80-\\u2fdf\\u3099\\u309a\\u3130-\\u318f\\u3200-\\u33ff\\ua960-\\ua97f\\ud7b0-\\ud7ff\\uf900-\\ufaff\\uff10-\\uff19\\uff21-\\uff3a\\uff41-\\uff5a\\uff66-\\uffdc\\u{2f800}-\\u{2fa1f}]'
const JOINS = '[\\u1160-\\u11ff\\u3099\\u309a\\u314f-\\u3163\\ud7b0-\\ud7ff\\uff9e\\uff9f\\uffc2-\\uffdc]'
const SPELLED = `(?:[\\u3041-\\u30ff\\uac00-\\ud7a3](?=${JOINS})|${OTHER_SPELLING})${JOINS}*`
const OTHERWISE_SPELLED = new RegExp(SPELLED, 'gv')
const UNIT = new RegExp(`${SPELLED}|[^]`, 'gv')

// The letters and digits of FTS5's unicode61 (categories L*, N*, Co), and marks, which belong to the letter before them.
const TOKEN = /[\p{L}\p{N}\p{Co}][\p{L}\p{N}\p{Co}\p{M}]*/gu

const letters = new Letters()

/**
 * The text as it goes into the index: spellings evened out, and spaces set so that FTS5 (unicode61 remove_diacritics 2) finds the words.
 * Most texts stay as they are; where a script sets no spaces, they grow to two or three times their length.
 */
export function cutText(text: string): string {
  return letters.write(text.replace(OTHERWISE_SPELLED, (character) => character.normalize('NFKC')))
}

/** The words of a text in its own letters: nothing but letters, digits and their marks. */
export function tokensOf(text: string): string[] {
  return cutText(text.toWellFormed()).match(TOKEN) ?? []
}

/** What stands together in a text without space or punctuation, each with its words: several where a script sets no spaces. */
export function wordGroups(text: string): string[][] {
  const groups = text.match(TOKEN) ?? []
  return groups.map(tokensOf).filter((tokens) => tokens.length > 0)
}

/** The words of a text in the order they stand there, folded, with their places. Nobody has to look further than he wants. */
export function* placedWords(text: string): Generator<PlacedWord> {
  for (const { 0: piece, index } of text.toWellFormed().matchAll(/\S+/g)) {
    if (cutText(piece) === piece) yield* tokensAt(piece, (at) => index + at)
    else yield* placedInside(piece, index)
  }
}

/** A word as FTS5's unicode61 with remove_diacritics 2 compares it: small letters, those of the Latin alphabet without their marks. */
export function foldWord(word: string): string {
  if (/^[\x00-\x7f]*$/.test(word)) return word.toLowerCase()
  let folded = ''
  for (const letter of word) folded += foldedLetters.get(letter) ?? foldLetter(letter)
  return folded
}

/** Letters that were folded before: a text has few, and each takes a microsecond. */
const foldedLetters = new Map<string, string>()
const LETTERS_MAX = 10_000

function foldLetter(letter: string): string {
  const folded = foldedOf(letter)
  if (foldedLetters.size >= LETTERS_MAX) foldedLetters.clear()
  foldedLetters.set(letter, folded)
  return folded
}

function foldedOf(letter: string): string {
  const [base = letter] = letter.normalize('NFD')
  const plain = /[A-Za-z]/.test(base) ? base : letter
  // Forms of one letter (ſ and s, ς and σ) have the same capital.
  const capital = plain.toUpperCase()
  return (capital.length === plain.length ? capital : plain).toLowerCase().replace(/[\u0300-\u0331]/, '')
}

function* tokensAt(cut: string, start: (at: number) => number, end = start): Generator<PlacedWord> {
  for (const { 0: token, index } of cut.matchAll(TOKEN)) {
    yield { word: foldWord(token), start: start(index), end: end(index + token.length) }
  }
}

/** The words of a piece that is cut otherwise than it is written: character by character, each knowing where it comes from. */
function* placedInside(piece: string, from: number): Generator<PlacedWord> {
  let cut = ''
  let starts: number[] = []
  let ends: number[] = [from]
  const gathered = () =>
    tokensAt(
      cut,
      (at) => starts[at]!,
      (at) => ends[at]!,
    )
  for (const { 0: unit, index } of piece.matchAll(UNIT)) {
    const [start, end] = [from + index, from + index + unit.length]
    const isWord = letters.isWord(unit) && unit.normalize('NFKC') === unit
    const made = isWord ? ' ' : cutUnit(unit)
    cut += made
    for (let i = 0; i < made.length; i++) {
      starts.push(start)
      ends.push(end)
    }
    if (!made.endsWith(' ')) continue
    yield* gathered()
    if (isWord) yield { word: unit, start, end }
    cut = ''
    starts = []
    ends = [end]
  }
  yield* gathered()
}

/** Characters that were cut before; longer spellings are rare. */
const cutUnits = new Map<string, string>()
const REMEMBERED_LENGTH = 4

function cutUnit(unit: string): string {
  const known = cutUnits.get(unit)
  if (known !== undefined) return known
  const cut = cutText(unit)
  if (cutUnits.size >= LETTERS_MAX) cutUnits.clear()
  if (unit.length <= REMEMBERED_LENGTH) cutUnits.set(unit, cut)
  return cut
}
