// A language for tests, made of the English one: longer by two fifths, with accents, between marks. What is not marked is not translated.

import * as english from './en/all.ts'
import type { Translated, Words } from './language.ts'

const LETTERS: Readonly<Record<string, string>> = {
  a: 'à',
  e: 'é',
  i: 'î',
  o: 'ó',
  u: 'ü',
  c: 'ç',
  n: 'ñ',
  A: 'Å',
  E: 'É',
  O: 'Ø',
}
const PADDING = ' one two three four five six seven eight nine ten eleven twelve'
const LONGER = 0.4

function marked(text: string): string {
  const accented = text.replace(/[aeioucnAEO]/g, (letter) => LETTERS[letter]!)
  const length = Math.ceil(text.length * LONGER)
  return `⟦${accented}${PADDING.repeat(Math.ceil(length / PADDING.length)).slice(0, length)}⟧`
}

function pseudo(text: unknown): unknown {
  if (typeof text === 'string') return marked(text)
  if (typeof text === 'function') return (...values: unknown[]) => pseudo(text(...values))
  if (typeof text !== 'object' || text === null) return text
  return Object.fromEntries(Object.entries(text).map(([name, one]) => [name, pseudo(one)]))
}

export const words = pseudo({ ...english }) as Translated<Words>
