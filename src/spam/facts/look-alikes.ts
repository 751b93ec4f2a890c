// Tells when a domain looks like another one: letters that look alike, one letter more or less, added words.

import { domainToUnicode } from 'node:url'

/** Letters and digits that readers take for a Latin letter. Source: the confusables of Unicode TR39 for the letters of brand names. */
const ALIKE: Readonly<Record<string, string>> = {
  ...{
    а: 'a',
    е: 'e',
    о: 'o',
    р: 'p',
    с: 'c',
    у: 'y',
    х: 'x',
    і: 'i',
    ј: 'j',
    ѕ: 's',
    һ: 'h',
    ԁ: 'd',
    ԛ: 'q',
    ԝ: 'w',
    к: 'k',
    м: 'm',
  },
  ...{
    т: 't',
    в: 'b',
    н: 'h',
    α: 'a',
    ο: 'o',
    ρ: 'p',
    ν: 'v',
    ι: 'i',
    κ: 'k',
    ε: 'e',
    τ: 't',
    υ: 'u',
    ı: 'i',
    ł: 'l',
    ø: 'o',
  },
}
const DIGITS: Readonly<Record<string, string>> = { 0: 'o', 1: 'l', 3: 'e', 5: 's' }
/** Shorter names resemble too many others; the longer ones are compared letter by letter. */
const NAME_MIN = 5
const ADDED_MIN = 6

/** The text in lower case with Latin letters for those that look like them, without accents. */
export function latinForm(text: string): string {
  const plain = text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
  return /^[\x00-\x7f]*$/.test(plain) ? plain : [...plain].map((character) => ALIKE[character] ?? character).join('')
}

/** True for a word of Latin letters and of letters of Cyrillic or Greek that look like them. */
export function mixesScripts(word: string): boolean {
  return word.length > 2 && /[a-z]/i.test(word) && /[\u0391-\u03c9\u0400-\u04ff]/.test(word)
}

/** Names that could be imitated, from their domains. */
export class ImitatedNames {
  readonly #names: ReadonlySet<string>
  readonly #byFirst: ReadonlyMap<string, string[]>

  constructor(domains: Iterable<string>) {
    this.#names = new Set([...domains].map(labelOf).filter((name) => name.length >= NAME_MIN))
    this.#byFirst = Map.groupBy([...this.#names].filter(isLong), (name) => name[0]!)
  }

  /** True for a registered domain that looks like one of another name. */
  isImitatedBy(site: string): boolean {
    const label = labelOf(site)
    if (this.#names.has(label)) return false
    const skeleton = skeletonOf(label)
    if (this.#names.has(skeleton)) return true
    if (label.includes('-') && skeleton.split('-').some((part) => isLong(part) && this.#names.has(part))) return true
    return this.#byFirst.get(skeleton[0] ?? '')?.some((name) => isOneStep(skeleton, name)) ?? false
  }
}

function labelOf(domain: string): string {
  return domain.split('.', 1)[0]!
}

function isLong(name: string): boolean {
  return name.length >= ADDED_MIN
}

function skeletonOf(label: string): string {
  const plain = latinForm(label.startsWith('xn--') ? domainToUnicode(label) || label : label)
  const digitless = plain.replace(/[0135]/g, (digit) => DIGITS[digit]!)
  return digitless.replaceAll('rn', 'm').replaceAll('vv', 'w')
}

/** One letter exchanged, added, left out or swapped with its neighbor; the first letter stays. */
function isOneStep(text: string, name: string): boolean {
  if (Math.abs(text.length - name.length) > 1) return false
  let start = 0
  while (start < Math.min(text.length, name.length) && text[start] === name[start]) start++
  const [a, b] = [text.slice(start), name.slice(start)]
  if (a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1)) return true
  return a.length > 1 && a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2)
}
