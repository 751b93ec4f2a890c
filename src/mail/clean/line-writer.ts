// Puts words on lines: breaks, list marks, the cells of a table side by side.

import { type CleanFormat, LINES_MAX, type Line } from './line.ts'

/** What the words being written belong to. */
export interface Place {
  quoted: boolean
  signature: boolean
  cited: boolean
}

interface Row {
  /** Where the lines of its cells begin. */
  cells: number[]
  isHead: boolean
}

const SEPARATOR = ' | '

export class LineWriter {
  readonly lines: Line[] = []
  place: Place = { quoted: false, signature: false, cited: false }
  readonly #format: CleanFormat
  #pieces: string[] = []
  #started: Place | null = null
  #space = false
  /** An empty line is due before the next words. */
  #gap = false
  #mark = ''
  /** Place of the last slot on this line. */
  #slot = -1
  #asWritten = false

  constructor(format: CleanFormat) {
    this.#format = format
  }

  /** Words of the text around tags; white space at their ends separates them from their neighbours. */
  words(text: string, wrap = ''): void {
    const folded = text.replace(/[ \t\r\n\f]+/g, ' ')
    const word = folded.replace(/^[ \u00a0]+|[ \u00a0]+$/g, '')
    if (folded.startsWith(' ') || folded.startsWith('\u00a0')) this.#space = true
    if (word === '') return
    this.#put(wrap === '' ? word : wrap + word + [...wrap].reverse().join(''))
    this.#space = /[ \u00a0]$/.test(folded)
  }

  /** Text whose own lines and spaces count. */
  verbatim(text: string): void {
    const room = Math.max(LINES_MAX - this.lines.length, 0)
    for (const [at, line] of text.replace(/\r\n?/g, '\n').split('\n', room).entries()) {
      if (at > 0) this.#endLine(true)
      if (line === '') continue
      this.#asWritten = true
      this.#put(line)
    }
  }

  /** Something that stands right behind the words before it. */
  glue(text: string): void {
    this.#space = false
    this.#put(text)
  }

  /** Something that may be filled in later. @returns what fills it in */
  slot(): (text: string) => void {
    // A piece of its own for the space that words behind it may begin with: it belongs before what is filled in.
    this.#put('')
    const pieces = this.#pieces
    const at = pieces.push('') - 1
    this.#slot = at
    return (text) => {
      pieces[at] = text
    }
  }

  /** The line being written, to find out whether it still is. */
  get current(): readonly string[] {
    return this.#pieces
  }

  /** @param gap an empty line belongs between */
  lineBreak(gap: boolean): void {
    this.#endLine(false)
    this.#mark = ''
    if (gap && this.lines.length > 0) this.#gap = true
  }

  /** A forced one (br): two of them leave an empty line. */
  forcedBreak(): void {
    if (this.#pieces.length === 0 && this.lines.length > 0) this.#gap = true
    this.#endLine(false)
  }

  /** What the next line begins with. */
  mark(text: string): void {
    this.#mark = text
  }

  /** A line of its own that separates. */
  rule(): void {
    this.lineBreak(true)
    if (this.#format === 'markdown') this.#put('---')
    else this.#put('________')
    this.lineBreak(true)
  }

  openRow(): Row {
    this.lineBreak(false)
    return { cells: [], isHead: false }
  }

  openCell(row: Row, isHead: boolean): void {
    this.lineBreak(false)
    row.cells.push(this.lines.length)
    row.isHead ||= isHead
  }

  /** Puts the cells side by side, unless one of them has lines of its own: then the table is no more than an arrangement. */
  closeRow({ cells, isHead }: Row): void {
    this.lineBreak(false)
    if (cells.length < 2) return
    const texts: string[] = []
    let first: Line | undefined
    for (const [at, from] of cells.entries()) {
      const own = this.lines.slice(from, cells[at + 1]).filter(({ text }) => text !== '')
      if (own.length > 1) return
      first ??= own[0]
      texts.push(own[0]?.text ?? '')
    }
    if (first === undefined || texts.filter((text) => text !== '').length < 2) return
    const gap = this.lines[cells[0]!]!.text === ''
    this.lines.length = cells[0]!
    if (gap) this.lines.push({ ...first, text: '' })
    if (this.#format === 'text') {
      this.lines.push({ ...first, text: texts.join(SEPARATOR) })
      return
    }
    this.lines.push({ ...first, text: `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(SEPARATOR)} |` })
    if (isHead) this.lines.push({ ...first, text: `| ${texts.map(() => '---').join(SEPARATOR)} |` })
  }

  #put(text: string): void {
    // What is marked as quoted stands on lines of its own.
    if (this.#started !== null && !isSame(this.#started, this.place)) this.#endLine(false)
    if (this.#pieces.length === 0) {
      if (this.#gap) this.lines.push(this.#line('', this.place))
      this.#gap = false
      this.#started = { ...this.place }
      if (this.#mark !== '') this.#pieces.push(this.#mark)
      this.#mark = ''
    } else if (this.#space && this.#slot === this.#pieces.length - 1) {
      if (this.#slot > 1 && this.#pieces[this.#slot - 2] !== ' ') this.#pieces[this.#slot - 1] = ' '
    } else if (this.#space) this.#pieces.push(' ')
    this.#space = false
    this.#pieces.push(text)
  }

  #endLine(even: boolean): void {
    if (this.#started !== null) this.lines.push(this.#line(this.#pieces.join(''), this.#started))
    else if (even) this.lines.push(this.#line('', this.place))
    this.#pieces = []
    this.#slot = -1
    this.#started = null
    this.#space = false
    this.#asWritten = false
  }

  #line(text: string, { quoted, signature, cited }: Place): Line {
    return {
      text: text.trimEnd(),
      quoted,
      signature,
      cited,
      asWritten: this.#asWritten,
    }
  }
}

function isSame(one: Place, other: Place): boolean {
  return one.quoted === other.quoted && one.signature === other.signature && one.cited === other.cited
}
