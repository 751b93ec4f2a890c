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

/** The words of a text in the order they stand there, folded, with their places. */
export function* placedWords(text: string): Generator<PlacedWord> {
  const { cut, starts, ends } = placedText(text.toWellFormed())
  for (const match of cut.matchAll(TOKEN)) {
    const last = match.index + match[0].length - 1
    yield { word: foldWord(match[0]), start: starts[match.index]!, end: ends[last]! }
  }
}

/** A word without case and accents, as the index compares words. */
export function foldWord(word: string): string {
  const plain = word
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
  return plain.replaceAll('ς', 'σ').replaceAll('µ', 'μ').replaceAll('ſ', 's').normalize('NFC')
}

/** The cut text, and for each of its code units where the characters it was made of start and end. */
function placedText(text: string): { cut: string; starts: number[]; ends: number[] } {
  const starts: number[] = []
  const ends: number[] = []
  let cut = ''
  for (const { 0: unit, index } of text.matchAll(UNIT)) {
    const made = cutText(unit)
    cut += made
    for (let i = 0; i < made.length; i++) {
      starts.push(index)
      ends.push(index + unit.length)
    }
  }
  return { cut, starts, ends }
}
