// Classifies lines of a message as own text, quoted text or signature.

import type { Line } from './line.ts'
import {
  DAY_AND_ADDRESS,
  DAY_AND_BARE_ADDRESS,
  FORWARDED_MESSAGE,
  fieldOf,
  HAS_DATE,
  isUndatedIntroduction,
  MAY_INTRODUCE,
  ORIGINAL_MESSAGE,
  type QuotedField,
  SENT_FROM,
  SOMEBODY_WROTE,
  SOMEBODY_WROTE_ON,
  WRITTEN_BY,
  WROTE_SOMEBODY,
} from './phrases.ts'

export type LineRole = 'own' | 'quoted' | 'signature'

/** Limits: lines and characters of an introduction, and examined lines of a quoted header. */
const INTRODUCTION_LINES = 6
const INTRODUCTION_MAX = 700
const HEAD_LINES = 12
/** Characters of an introduction that has no day. */
const UNDATED_MAX = 300
/** Characters from which a quoted line may have been broken. */
const BROKEN_FROM = 50
/** Lines of a signature behind a bare "--", which separates other things as well. */
const SIGNATURE_LINES = 30

/**
 * The role of each line. A message that consists only of a quotation, or forwards another one, is kept unchanged.
 * Linear: each line is examined a bounded number of times.
 */
export function classifyLines(lines: readonly Line[]): LineRole[] {
  const splitter = new Splitter(lines)
  const roles = splitter.split()
  if (roles.some((role, at) => role === 'own' && lines[at]!.text.trim() !== '')) return roles
  return lines.map(() => 'own')
}

class Splitter {
  readonly #lines: readonly Line[]
  readonly #roles: LineRole[]
  /** Start of a forwarded message: the lines after it are part of the content. */
  #forwardedAt: number

  constructor(lines: readonly Line[]) {
    this.#lines = lines
    this.#forwardedAt = lines.length
    this.#roles = lines.map((line) => (line.signature ? 'signature' : 'own'))
  }

  split(): LineRole[] {
    const lines = this.#lines
    let fenced = false
    for (let at = 0; at < lines.length; at++) {
      const { text, quoted } = lines[at]!
      if (text.startsWith('```')) fenced = !fenced
      if (fenced || text.trim() === '') continue
      if (FORWARDED_MESSAGE.test(text.slice(0, 200))) {
        // Also inside what the markup calls a quotation.
        this.#forwardedAt = at
        break
      }
      if (quoted) this.#roles[at] = 'quoted'
      else if (isMarked(text) || this.#isBroken(at)) this.#roles[at] = 'quoted'
      else {
        const introduction = introductionLines(lines, at)
        if (introduction > 0) {
          this.#mark(at, at + introduction)
          if (!this.#isFollowedByQuote(at + introduction)) {
            this.#mark(at, lines.length)
            break
          }
          at += introduction - 1
        } else if (this.#startsQuotedMessage(at)) {
          this.#mark(at, lines.length)
          break
        }
      }
    }
    this.#closeGaps()
    return withSignature(lines, this.#roles, this.#forwardedAt)
  }

  /** The end of a quoted line that some program has broken, without a mark of its own. */
  #isBroken(at: number): boolean {
    const [before, behind] = [this.#lines[at - 1]?.text ?? '', this.#lines[at + 1]?.text ?? '']
    return before.length >= BROKEN_FROM && isMarked(before) && isMarked(behind)
  }

  #mark(from: number, to: number): void {
    for (let at = from; at < to; at++) this.#roles[at] = 'quoted'
  }

  #isFollowedByQuote(from: number): boolean {
    const next = this.#lines.slice(from, from + 8).find(({ text }) => text.trim() !== '')
    return next !== undefined && (next.quoted || next.cited || isMarked(next.text)) && this.#markCited(from)
  }

  /** What an introduction introduces may be a block quotation that nothing else marks. */
  #markCited(from: number): boolean {
    let at = from
    while (at < this.#lines.length && this.#lines[at]!.text.trim() === '') at++
    for (; at < this.#lines.length && this.#lines[at]!.cited; at++) this.#roles[at] = 'quoted'
    return true
  }

  /** "-----Original Message-----", or a quoted header as Outlook writes it. */
  #startsQuotedMessage(at: number): boolean {
    const text = this.#lines[at]!.text.slice(0, 200)
    if (ORIGINAL_MESSAGE.test(text)) return true
    const isRule = /^\s*(?:_{5,}|-{5,}|={3,}|\*{5,})\s*$/.test(text)
    const first = isRule ? this.#nextText(at + 1) : at
    return first !== null && isHead(this.#lines, first, isRule)
  }

  #nextText(from: number): number | null {
    for (let at = from; at < Math.min(from + 3, this.#lines.length); at++) {
      if (this.#lines[at]!.text.trim() !== '') return at
    }
    return null
  }

  /** Empty lines between two quoted ones are quoted as well. */
  #closeGaps(): void {
    let last = -1
    for (const [at, role] of this.#roles.entries()) {
      if (role !== 'quoted') {
        if (this.#lines[at]!.text.trim() !== '') last = -1
        continue
      }
      if (last >= 0) for (let gap = last + 1; gap < at; gap++) this.#roles[gap] = 'quoted'
      last = at
    }
  }
}

/** ">", but neither what mail boxes put before "From" nor arrows around a link. */
function isMarked(text: string): boolean {
  return /^\s{0,3}>/.test(text) && !text.startsWith('>From ') && !/<<\s*$/.test(text)
}

/** How many lines from here introduce a quotation, 0 when these do not. */
function introductionLines(lines: readonly Line[], at: number): number {
  if (introducesMarked(lines, at)) return 1
  if (!MAY_INTRODUCE.test(withoutMarks(lines[at]!.text.slice(0, 160)))) return 0
  let joined = ''
  for (let more = 0; more < INTRODUCTION_LINES && at + more < lines.length; more++) {
    const text = withoutMarks(lines[at + more]!.text).trim()
    if (text === '' || (more > 0 && isMarked(text) && !/^>\s?:?$/.test(text))) return 0
    joined = joined === '' ? text : `${joined} ${text}`
    if (joined.length > INTRODUCTION_MAX) return 0
    if (!HAS_DATE.test(joined)) continue
    if (isIntroduction(joined)) return more + 1
    const next = lines[at + more + 1]
    const hasQuote =
      next === undefined ? false : isMarked((next.text.trim() === '' ? lines[at + more + 2] : next)?.text ?? '')
    if (hasQuote && DAY_AND_BARE_ADDRESS.test(joined)) return more + 1
  }
  return 0
}

/** Marks of direction, which programs put around names in Arabic and Hebrew. */
function withoutMarks(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
}

/** "<name> wrote:", right before something that is marked as quoted. */
function introducesMarked(lines: readonly Line[], at: number): boolean {
  const { text } = lines[at]!
  if (text.length > UNDATED_MAX || !/[:：]\P{L}{0,8}$/u.test(text)) return false
  const next = lines[at + 1]?.text.trim() === '' ? lines[at + 2] : lines[at + 1]
  if (next === undefined || !(next.quoted || isMarked(next.text))) return false
  return isUndatedIntroduction(withoutMarks(text).trim())
}

/** True for "On <day> <name> wrote:" in any language and order. */
export function isIntroduction(text: string): boolean {
  const plain = text.replace(/&(?:lt|gt|quot|amp);/g, (name) => (name === '&lt;' ? '<' : name === '&gt;' ? '>' : ' '))
  return (
    SOMEBODY_WROTE.test(plain) ||
    WROTE_SOMEBODY.test(plain) ||
    WRITTEN_BY.test(plain) ||
    DAY_AND_ADDRESS.test(plain) ||
    SOMEBODY_WROTE_ON.test(plain)
  )
}

/** Several header fields on consecutive lines, sender or date first. */
function isHead(lines: readonly Line[], at: number, isSetApart: boolean): boolean {
  const found = new Set<QuotedField>()
  for (let line = at; line < Math.min(at + HEAD_LINES, lines.length); line++) {
    const text = lines[line]!.text.trim()
    if (text === '') break
    const field = fieldOf(text)
    if (line === at && field !== 'from' && field !== 'date') return false
    if (field !== null) found.add(field)
  }
  if (!found.has('from') && !(found.has('date') && found.has('to'))) return false
  return found.size >= (isSetApart ? 2 : 3) || (found.has('date') && found.has('to') && !found.has('from'))
}

/** Marks the signature in the own text. */
function withSignature(lines: readonly Line[], roles: LineRole[], end: number): LineRole[] {
  const from = signatureStart(lines.slice(0, end), roles)
  if (from === null) return roles
  return roles.map((role, at) => (at >= from && at < end && role === 'own' ? 'signature' : role))
}

/** Where the signature begins: RFC 3676 4.3, the line of a list, or what a mobile program appends. */
function signatureStart(lines: readonly Line[], roles: readonly LineRole[]): number | null {
  let words = false
  let fenced = false
  for (const [at, { text }] of lines.entries()) {
    if (roles[at] !== 'own') continue
    if (text.startsWith('```')) fenced = !fenced
    if (fenced) continue
    if (words && (isDelimiter(lines, roles, at) || isPhoneLine(lines, roles, at))) return at
    words ||= text.trim() !== ''
  }
  return null
}

function isDelimiter(lines: readonly Line[], roles: readonly LineRole[], at: number): boolean {
  const { text } = lines[at]!
  if (/^-- $/.test(text)) return true
  if (/^_{20,}\s*$/.test(text)) return isListFooter(lines, at)
  if (!/^(?:--|—|–|__)\s*$/.test(text)) return false
  let below = 0
  for (let next = at + 1; next < lines.length; next++) {
    if (roles[next] !== 'quoted' && lines[next]!.text.trim() !== '' && ++below > SIGNATURE_LINES) return false
  }
  return below > 0
}

function isListFooter(lines: readonly Line[], at: number): boolean {
  const next = lines[at + 1]?.text ?? ''
  return /mailing list|unsubscribe|^list-/i.test(next.slice(0, 200))
}

/** It stands alone, so that a sentence that begins like it is none. */
function isPhoneLine(lines: readonly Line[], roles: readonly LineRole[], at: number): boolean {
  const text = lines[at]!.text.trim()
  if (text.length > 160 || !SENT_FROM.test(text.replace(/<[^<>\s]{1,100}>|\(https?:[^()\s]{1,100}\)/g, '').trim()))
    return false
  const isBare = (index: number) => index >= lines.length || roles[index] !== 'own' || lines[index]!.text.trim() === ''
  return isBare(at - 1) && isBare(at + 1)
}
