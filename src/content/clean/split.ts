// Tells what somebody wrote now from what he quotes and what stands under every one of his mails.

import type { Line } from './line.ts'
import {
  DAY_AND_ADDRESS,
  DAY_AND_BARE_ADDRESS,
  type Field,
  FORWARDED_MESSAGE,
  fieldOf,
  HAS_DATE,
  isUndatedIntroduction,
  MAY_INTRODUCE,
  ORIGINAL_MESSAGE,
  SENT_FROM,
  SOMEBODY_WROTE,
  SOMEBODY_WROTE_ON,
  WRITTEN_BY,
  WROTE_SOMEBODY,
} from './phrases.ts'

export type Share = 'own' | 'quoted' | 'signature'

/** Lines an introduction may take, its characters, and lines of a quoted mail's head that are looked at. */
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
 * What each line is. A mail that is nothing but a quotation, or passes another one on, is shown as it is.
 * Linear: every line is looked at a bounded number of times.
 */
export function sharesOf(lines: readonly Line[]): Share[] {
  const splitter = new Splitter(lines)
  const shares = splitter.split()
  if (shares.some((share, at) => share === 'own' && lines[at]!.text.trim() !== '')) return shares
  return lines.map(() => 'own')
}

class Splitter {
  readonly #lines: readonly Line[]
  readonly #shares: Share[]
  /** Where a mail begins that is passed on: what stands below was not written by this sender, but is what he sends. */
  #passedOn: number

  constructor(lines: readonly Line[]) {
    this.#lines = lines
    this.#passedOn = lines.length
    this.#shares = lines.map((line) => (line.signature ? 'signature' : 'own'))
  }

  split(): Share[] {
    const lines = this.#lines
    let fenced = false
    for (let at = 0; at < lines.length; at++) {
      const { text, quoted } = lines[at]!
      if (text.startsWith('```')) fenced = !fenced
      if (fenced || text.trim() === '') continue
      if (FORWARDED_MESSAGE.test(text.slice(0, 200))) {
        // Also inside what the markup calls a quotation.
        this.#passedOn = at
        break
      }
      if (quoted) this.#shares[at] = 'quoted'
      else if (isMarked(text) || this.#isBroken(at)) this.#shares[at] = 'quoted'
      else {
        const introduction = introductionLines(lines, at)
        if (introduction > 0) {
          this.#mark(at, at + introduction)
          if (!this.#isFollowedByQuote(at + introduction)) {
            this.#mark(at, lines.length)
            break
          }
          at += introduction - 1
        } else if (this.#startsOldMail(at)) {
          this.#mark(at, lines.length)
          break
        }
      }
    }
    this.#closeGaps()
    return withSignature(lines, this.#shares, this.#passedOn)
  }

  /** The end of a quoted line that some program has broken, without a mark of its own. */
  #isBroken(at: number): boolean {
    const [before, behind] = [this.#lines[at - 1]?.text ?? '', this.#lines[at + 1]?.text ?? '']
    return before.length >= BROKEN_FROM && isMarked(before) && isMarked(behind)
  }

  #mark(from: number, to: number): void {
    for (let at = from; at < to; at++) this.#shares[at] = 'quoted'
  }

  #isFollowedByQuote(from: number): boolean {
    const next = this.#lines.slice(from, from + 8).find(({ text }) => text.trim() !== '')
    return next !== undefined && (next.quoted || next.cited || isMarked(next.text)) && this.#markCited(from)
  }

  /** What an introduction introduces may be a block quotation that nothing else marks. */
  #markCited(from: number): boolean {
    let at = from
    while (at < this.#lines.length && this.#lines[at]!.text.trim() === '') at++
    for (; at < this.#lines.length && this.#lines[at]!.cited; at++) this.#shares[at] = 'quoted'
    return true
  }

  /** "-----Original Message-----", or the head of a mail as Outlook writes it. */
  #startsOldMail(at: number): boolean {
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
    for (const [at, share] of this.#shares.entries()) {
      if (share !== 'quoted') {
        if (this.#lines[at]!.text.trim() !== '') last = -1
        continue
      }
      if (last >= 0) for (let gap = last + 1; gap < at; gap++) this.#shares[gap] = 'quoted'
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

/** "<somebody> wrote:", right before something that is marked as quoted. */
function introducesMarked(lines: readonly Line[], at: number): boolean {
  const { text } = lines[at]!
  if (text.length > UNDATED_MAX || !/[:：]\P{L}{0,8}$/u.test(text)) return false
  const next = lines[at + 1]?.text.trim() === '' ? lines[at + 2] : lines[at + 1]
  if (next === undefined || !(next.quoted || isMarked(next.text))) return false
  return isUndatedIntroduction(withoutMarks(text).trim())
}

function isIntroduction(text: string): boolean {
  const plain = text.replace(/&(?:lt|gt|quot|amp);/g, (name) => (name === '&lt;' ? '<' : name === '&gt;' ? '>' : ' '))
  return (
    SOMEBODY_WROTE.test(plain) ||
    WROTE_SOMEBODY.test(plain) ||
    WRITTEN_BY.test(plain) ||
    DAY_AND_ADDRESS.test(plain) ||
    SOMEBODY_WROTE_ON.test(plain)
  )
}

/** Several fields of a mail's head, one below the other: sender or date first. */
function isHead(lines: readonly Line[], at: number, isSetApart: boolean): boolean {
  const found = new Set<Field>()
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

/** Marks the signature among what is one's own. */
function withSignature(lines: readonly Line[], shares: Share[], end: number): Share[] {
  const from = signatureStart(lines.slice(0, end), shares)
  if (from === null) return shares
  return shares.map((share, at) => (at >= from && at < end && share === 'own' ? 'signature' : share))
}

/** Where the signature begins: RFC 3676 4.3, the line of a list, or what a telephone adds. */
function signatureStart(lines: readonly Line[], shares: readonly Share[]): number | null {
  let words = false
  let fenced = false
  for (const [at, { text }] of lines.entries()) {
    if (shares[at] !== 'own') continue
    if (text.startsWith('```')) fenced = !fenced
    if (fenced) continue
    if (words && (isDelimiter(lines, shares, at) || isPhoneLine(lines, shares, at))) return at
    words ||= text.trim() !== ''
  }
  return null
}

function isDelimiter(lines: readonly Line[], shares: readonly Share[], at: number): boolean {
  const { text } = lines[at]!
  if (/^-- $/.test(text)) return true
  if (/^_{20,}\s*$/.test(text)) return isListFooter(lines, at)
  if (!/^(?:--|—|–|__)\s*$/.test(text)) return false
  let below = 0
  for (let next = at + 1; next < lines.length; next++) {
    if (shares[next] !== 'quoted' && lines[next]!.text.trim() !== '' && ++below > SIGNATURE_LINES) return false
  }
  return below > 0
}

function isListFooter(lines: readonly Line[], at: number): boolean {
  const next = lines[at + 1]?.text ?? ''
  return /mailing list|unsubscribe|^list-/i.test(next.slice(0, 200))
}

/** It stands alone, so that a sentence that begins like it is none. */
function isPhoneLine(lines: readonly Line[], shares: readonly Share[], at: number): boolean {
  const text = lines[at]!.text.trim()
  if (text.length > 160 || !SENT_FROM.test(text.replace(/<[^<>\s]{1,100}>|\(https?:[^()\s]{1,100}\)/g, '').trim()))
    return false
  const isBare = (place: number) => place >= lines.length || shares[place] !== 'own' || lines[place]!.text.trim() === ''
  return isBare(at - 1) && isBare(at + 1)
}
