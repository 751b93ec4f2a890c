// Finds one-time codes in the own text of a message, by the nouns around a candidate and by the form of the mail.

import { CODE_MAIL_SIGNS, OTHER_NOUN, STRONG_NOUN, WEAK_NOUN } from './code-words.ts'
import { type OwnLine, sentenceAt, shownSentence, type TextPosition } from './own-line.ts'

export interface FoundCode extends TextPosition {
  value: string
  confidence: 'high' | 'low'
}

/** Candidates that are examined in one message. */
const CANDIDATES_MAX = 60
/** Lines with text before a candidate that may name it. */
const LABEL_LINES = 2
/** Characters between a noun and a candidate of the same sentence. */
const NEAR = 80
/** Digits and letters of a code. */
const LENGTH = { least: 4, most: 10 }
/** Points from which a code is certain enough to be used: of digits, and with letters, which names of bookings have as well. */
const HIGH = { digits: 4, mixed: 5 }

/** Not a part of another number, word, address, time, amount or date. Letters of scripts without spaces may be next to it. */
const BEFORE = '(?<![A-Za-z0-9\\u00c0-\\u052f@/+#_=&?%]|[A-Za-z0-9\\u00c0-\\u052f][-.,:/]|\\d ?[-/:.]|[+(] ?|\\d )'
const AFTER = '(?![A-Za-z0-9\\u00c0-\\u052f@/_=&%]|[-.,:/][A-Za-z0-9]| ?[-/:]\\d| \\d|\\.\\d|,\\d)'
const FORMS = [
  '[A-Z]{1,2}-\\d{4,8}',
  '\\d{3}[ -]\\d{3}',
  '\\d{4}[ -]\\d{4}',
  '\\d{2} \\d{2} \\d{2}',
  '\\d(?: \\d){3,7}',
  '[A-Z0-9]{3,5}-[A-Z0-9]{3,5}',
  '[A-Za-z0-9]{4,10}',
]
const CANDIDATE = new RegExp(`${BEFORE}(?:${FORMS.join('|')})${AFTER}`, 'g')

/** "@example.com #123456": the format for one-time codes that are bound to an origin. */
const BOUND = /^@[a-z0-9.-]{3,253} #([A-Za-z0-9-]{4,10})(?: .{0,260})?$/
const CURRENCY = /(?:[€$£¥₽₹]|US\$|R\$|zł|руб|円|kr|EUR|USD|GBP|PLN|CHF|BRL|JPY|RUB)/
const MONEY_BEFORE = new RegExp(`${CURRENCY.source}\\.? ?$`)
const MONEY_AFTER = new RegExp(
  `^ ?(?:${CURRENCY.source}|%|[A-Za-z]?(?:km|kg|kB|MB|GB|px|pt|mm)\\b|年|月|件|個|名|人|ポイント|点)`,
)
const YEAR = /^(?:19|20)\d\d$/
/** What stands between a noun and the code it names: nothing else than a colon, "is", quotation marks. */
const JOINT =
  /^["'“”«»„*_()\s]*(?:[:：=|-]|is|are|lautet|ist|est|es|é|è|to|jest|вот|は|が|を|:)?\s?(?:[:：=|-])?["'“”«»„*_()\s「『【]*$/u

/** What stands between a code and the noun behind it. */
const JOINT_BEHIND = /^["'“”»*_\s]*(?:is|ist|est|es|é|è|to|jest|[-—:：]|は|が)\s?.{0,16}$/u

interface Candidate {
  value: string
  raw: string
  line: number
  start: number
  end: number
  isAlone: boolean
}

interface Noun {
  kind: 'strong' | 'weak' | 'other'
  start: number
  end: number
}

/** @param lines the subject first, then the own lines that have text. Linear in them, never throws. */
export function findCodes(lines: readonly OwnLine[]): FoundCode[] {
  const candidates = lines.flatMap(candidatesOf).slice(0, CANDIDATES_MAX)
  if (candidates.length === 0) return []
  const whole = lines.map(({ text }) => text).join('\n')
  const signs = CODE_MAIL_SIGNS.filter((sign) => sign.test(whole)).length
  const found = new Map<string, FoundCode & { points: number }>()
  for (const candidate of candidates) {
    const points = pointsOf(candidate, lines, signs)
    if (points === null) continue
    const position = positionOf(lines, candidate)
    const confidence = points >= enough(candidate.value) ? 'high' : 'low'
    const code = { value: candidate.value, confidence, points, ...position } as const
    const known = found.get(code.value)
    if (known === undefined || known.points < points) found.set(code.value, code)
  }
  return [...found.values()].map(({ points: _, ...code }) => code)
}

function enough(value: string): number {
  return /^\d+$/.test(value) ? HIGH.digits : HIGH.mixed
}

function positionOf(lines: readonly OwnLine[], { line, start }: Candidate): TextPosition {
  return { part: line === 0 ? 'subject' : 'text', line, sentence: shownSentence(lines[line]!.text, start) }
}

function candidatesOf({ text, links }: OwnLine, line: number): Candidate[] {
  const bound = BOUND.exec(text.trim())
  if (bound !== null) {
    const [, value] = bound
    return [{ value: value!, raw: text.trim(), line, start: text.indexOf('#') + 1, end: text.length, isAlone: true }]
  }
  const found: Candidate[] = []
  for (const { 0: raw, index: start } of text.matchAll(CANDIDATE)) {
    const end = start + raw.length
    const value = typedValue(raw)
    if (value === null || links.some((link) => link.start <= start && end <= link.start + link.text.length)) continue
    if (MONEY_BEFORE.test(text.slice(0, start)) || MONEY_AFTER.test(text.slice(end))) continue
    const isAlone = /^[^\p{L}\p{N}]*$/u.test(text.slice(0, start) + text.slice(end))
    found.push({ value, raw, line, start, end, isAlone })
  }
  return found
}

/** The code as it is typed; null for what cannot be one. */
function typedValue(raw: string): string | null {
  const prefixed = /^[A-Z]{1,2}-(\d{4,8})$/.exec(raw)
  if (prefixed !== null) return prefixed[1]!
  const value = /[A-Za-z]/.test(raw) ? raw : raw.replace(/[ -]/g, '')
  const { length } = value.replace(/-/g, '')
  return /\d/.test(value) && length >= LENGTH.least && length <= LENGTH.most ? value : null
}

/** @returns null when it is no code */
function pointsOf(candidate: Candidate, lines: readonly OwnLine[], signs: number): number | null {
  const { text } = lines[candidate.line]!
  if (BOUND.test(text.trim())) return HIGH.mixed + signs
  const { noun, isJoined } = nounOf(candidate, lines)
  if (noun === null || noun.kind === 'other') return null
  const isPlain = /^\d+$/.test(candidate.value)
  // A word with a digit in it needs to be named directly.
  if (!isPlain && !candidate.isAlone && !isJoined) return null
  if (/[a-z]/.test(candidate.value) && !candidate.isAlone && !isJoined) return null
  if (YEAR.test(candidate.value) && !isJoined) return null
  const named = noun.kind === 'strong' ? 3 : 1
  return named + (candidate.isAlone ? 2 : 0) + (isJoined ? 1 : 0) + Math.min(signs, 3)
}

/** The noun that names a candidate: the nearest one of its sentence, or of the lines before where it stands alone. */
function nounOf(candidate: Candidate, lines: readonly OwnLine[]): { noun: Noun | null; isJoined: boolean } {
  const { text } = lines[candidate.line]!
  const sentence = sentenceAt(text, candidate.start)
  const [start, end] = [candidate.start - sentence.start, candidate.end - sentence.start]
  const near = nearest(nounsOf(sentence.text), start, end)
  if (near !== null) {
    const isBefore = near.end <= start
    const between = isBefore ? sentence.text.slice(near.end, start) : sentence.text.slice(end, near.start)
    return { noun: near, isJoined: (isBefore ? JOINT : JOINT_BEHIND).test(between) }
  }
  if (!candidate.isAlone || candidate.line === 0) return { noun: null, isJoined: false }
  for (let line = candidate.line - 1; line >= Math.max(0, candidate.line - LABEL_LINES); line--) {
    const last = lastNoun(lines[line]!.text)
    if (last !== null) return { noun: last, isJoined: line > 0 }
  }
  // The subject may be the only line that names it.
  const named = lastNoun(lines[0]!.text)
  return { noun: named?.kind === 'strong' ? named : null, isJoined: false }
}

/** The noun of a label: that of the last sentence with one, a strong one first. */
function lastNoun(text: string): Noun | null {
  const nouns = nounsOf(text)
  const label = nouns.at(-1) ?? null
  return nouns.findLast(({ kind }) => kind === 'strong') ?? label
}

/** One before the candidate is preferred to one behind it. */
function nearest(nouns: readonly Noun[], start: number, end: number): Noun | null {
  const distance = (noun: Noun) => (noun.end <= start ? start - noun.end : (noun.start - end) * 1.5)
  const apart = nouns.filter((noun) => (noun.end <= start || noun.start >= end) && distance(noun) <= NEAR)
  return apart.toSorted((a, b) => distance(a) - distance(b))[0] ?? null
}

/** A compound such as "promo code" is one noun: what lies inside a longer one does not count. */
function nounsOf(text: string): Noun[] {
  const of = (pattern: RegExp, kind: Noun['kind']) =>
    [...text.matchAll(pattern)].map(({ 0: match, index }): Noun => ({ kind, start: index, end: index + match.length }))
  const all = [...of(OTHER_NOUN, 'other'), ...of(STRONG_NOUN, 'strong'), ...of(WEAK_NOUN, 'weak')]
  const covers = (a: Noun, b: Noun) =>
    a !== b && a.start <= b.start && a.end >= b.end && a.end - a.start > b.end - b.start
  const whole = all.filter((noun) => !all.some((other) => covers(other, noun)))
  return whole.toSorted((a, b) => a.start - b.start)
}
