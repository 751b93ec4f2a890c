// The body of a document while it is written, with the quotations of earlier messages folded without a script.

import { FORWARDED_MESSAGE, isUndatedIntroduction } from '../clean/phrases.ts'
import { isIntroduction } from '../clean/split.ts'

/** Characters of the line above a quotation, and of the beginning of one. */
const LINE_MAX = 700
const START_MAX = 200

interface Fold {
  /** Index of its piece. */
  at: number
  /** The beginning of its text. */
  start: string
}

export class Folds {
  static readonly END = '</div></details>'
  readonly #pieces: string[] = []
  readonly #folds: Fold[] = []
  readonly #isOpen: boolean
  /** The quotation that is being written; folds are not nested. */
  #fold: Fold | null = null
  #line = ''
  #lastLine = ''
  #hasOwnText = false

  /** @param isOpen quotations are shown unfolded */
  constructor(isOpen: boolean) {
    this.#isOpen = isOpen
  }

  /** @param shown what a reader sees of it, decoded */
  text(markup: string, shown: string): void {
    this.#pieces.push(markup)
    if (this.#fold === null) this.#hasOwnText ||= /[\p{L}\p{N}]/u.test(shown)
    else if (this.#fold.start.length < START_MAX) this.#fold.start = (this.#fold.start + shown).trimStart()
    if (this.#line.length < LINE_MAX) this.#line += shown.replace(/\s+/g, ' ')
  }

  markup(piece: string): void {
    this.#pieces.push(piece)
  }

  /** Begins a fold. @returns false inside another one */
  open(): boolean {
    if (this.#fold !== null) return false
    this.#fold = { at: this.#pieces.length, start: '' }
    this.#folds.push(this.#fold)
    this.#pieces.push('')
    return true
  }

  /** @param piece the end of an element, which may be that of the fold as well */
  end(piece: string): void {
    if (piece === '') return
    this.#pieces.push(piece)
    if (piece.endsWith(Folds.END)) this.#fold = null
  }

  /** A new line begins. */
  line(): void {
    const line = this.#line.trim()
    if (line !== '') this.#lastLine = line
    if (this.#fold !== null && this.#fold.start !== '') this.#fold.start += '\n'
    this.#line = ''
  }

  /** Whether the last line introduces a quotation, such as "On Monday, Ana wrote:". */
  isIntroduced(): boolean {
    const line = this.#lastLine.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    return (
      line.length < LINE_MAX && /[:：]\P{L}{0,8}$/u.test(line) && (isIntroduction(line) || isUndatedIntroduction(line))
    )
  }

  /** A message that only quotes, and what it forwards, is not folded. */
  result(): { body: string; hasQuote: boolean } {
    for (const { at, start } of this.#folds) {
      const isOpen = this.#isOpen || !this.#hasOwnText || FORWARDED_MESSAGE.test(start.split('\n', 1)[0]!.trim())
      this.#pieces[at] =
        `<details class="mailstead-quotation"${isOpen ? ' open' : ''}><summary aria-label="Quotation">…</summary><div>`
    }
    return { body: this.#pieces.join('').toWellFormed(), hasQuote: this.#folds.length > 0 }
  }
}
