// Writes words to lines: line breaks, list marks, table cells on one line.

import { LINES_MAX, type Line, type LineLayout, PLAIN_SPAN, type SpanLink, type TextSpan } from './line.ts'

/** The context of the words being written. */
export interface LineContext {
  quoted: boolean
  signature: boolean
  cited: boolean
}

/** The style of words. */
export interface TextStyle {
  strong: boolean
  emphasis: boolean
  link: SpanLink | null
}

/** What a line begins with, as plain text and as Markdown. */
export interface LineMark {
  text: string
  markdown: string
}

interface Row {
  /** Where the lines of its cells begin. */
  cells: number[]
  isHead: boolean
}

const SEPARATOR = ' | '
const RULE = '________'
const NO_MARK: LineMark = { text: '', markdown: '' }

export class LineWriter {
  readonly lines: Line[] = []
  context: LineContext = { quoted: false, signature: false, cited: false }
  #spans: TextSpan[] = []
  #lineMark = NO_MARK
  #started: LineContext | null = null
  #space = false
  /** An empty line is due before the next words. */
  #gap = false
  #mark = NO_MARK
  #asWritten = false

  /** Words of the text around tags; white space at their ends separates them from their neighbours. */
  words(text: string, style: TextStyle): void {
    const folded = text.replace(/[ \t\r\n\f]+/g, ' ')
    const word = folded.replace(/^[ \u00a0]+|[ \u00a0]+$/g, '')
    if (folded.startsWith(' ') || folded.startsWith('\u00a0')) this.#space = true
    if (word === '') return
    this.#put({ ...style, text: word, isTarget: false })
    this.#space = /[ \u00a0]$/.test(folded)
  }

  /** Text whose own lines and spaces count: code. */
  verbatim(text: string): void {
    const room = Math.max(LINES_MAX - this.lines.length, 0)
    for (const [at, line] of text.replace(/\r\n?/g, '\n').split('\n', room).entries()) {
      if (at > 0) this.#endLine(true)
      if (line === '') continue
      this.#put({ ...PLAIN_SPAN, text: line })
      this.#asWritten = true
    }
  }

  /** The target of a link, right behind its words. */
  target(url: string): void {
    this.#space = false
    this.#put({ ...PLAIN_SPAN, text: url, isTarget: true })
  }

  /** The line being written, to find out whether it still is. */
  get current(): readonly TextSpan[] {
    return this.#spans
  }

  /** @param gap an empty line belongs between */
  lineBreak(gap: boolean): void {
    this.#endLine(false)
    this.#mark = NO_MARK
    if (gap && this.lines.length > 0) this.#gap = true
  }

  /** A forced one (br): two of them leave an empty line. */
  forcedBreak(): void {
    if (this.#spans.length === 0 && this.lines.length > 0) this.#gap = true
    this.#endLine(false)
  }

  /** What the next line begins with. */
  mark(mark: LineMark): void {
    this.#mark = mark
  }

  /** A line of its own that separates. */
  rule(): void {
    this.lineBreak(true)
    this.#begin()
    this.lines.push({ ...this.context, text: RULE, layout: { form: 'rule' }, asWritten: false })
    this.#started = null
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
    const found: (Line | undefined)[] = []
    for (const [at, from] of cells.entries()) {
      const own = this.lines.slice(from, cells[at + 1]).filter(({ text }) => text !== '')
      if (own.length > 1) return
      found.push(own[0])
    }
    const filled = found.filter((line) => line !== undefined)
    if (filled.length < 2) return
    const first = filled[0]!
    const gap = this.lines[cells[0]!]!.text === ''
    this.lines.length = cells[0]!
    if (gap) this.lines.push({ ...first, ...EMPTY })
    this.lines.push({
      ...first,
      text: found.map((line) => line?.text ?? '').join(SEPARATOR),
      layout: { form: 'row', cells: found.map((line) => (line === undefined ? [] : spansOf(line))), isHead },
    })
  }

  #put(span: TextSpan): void {
    // What is marked as quoted stands on lines of its own.
    if (this.#started !== null && !isSame(this.#started, this.context)) this.#endLine(false)
    if (this.#spans.length === 0) this.#begin()
    else if (this.#space) {
      const link = this.#spans.at(-1)!.link === span.link ? span.link : null
      this.#spans.push({ ...PLAIN_SPAN, text: ' ', link })
    }
    this.#space = false
    this.#spans.push(span)
  }

  #begin(): void {
    if (this.#gap) this.lines.push({ ...this.context, ...EMPTY, asWritten: false })
    this.#gap = false
    this.#started = { ...this.context }
    this.#lineMark = this.#mark
    this.#mark = NO_MARK
  }

  /** @param even an empty line counts: it is one of code */
  #endLine(even: boolean): void {
    if (this.#started !== null) this.lines.push(this.#line(this.#started))
    else if (even) this.lines.push({ ...this.context, text: '', layout: { form: 'code' }, asWritten: true })
    this.#spans = []
    this.#lineMark = NO_MARK
    this.#started = null
    this.#space = false
    this.#asWritten = false
  }

  #line(context: LineContext): Line {
    const spans = this.#spans
    const { text: mark, markdown } = this.#lineMark
    const isCode = this.#asWritten
    const layout: LineLayout = isCode ? { form: 'code' } : { form: 'words', mark: markdown, spans }
    return { ...context, text: (mark + spans.map(textOf).join('')).trimEnd(), layout, asWritten: isCode }
  }
}

const EMPTY = { text: '', layout: { form: 'words', mark: '', spans: [] } } as const

function textOf({ text, isTarget }: TextSpan): string {
  return isTarget ? ` <${text}>` : text
}

/** What a line says, as the content of a cell. */
function spansOf({ text, layout }: Line): TextSpan[] {
  if (layout.form === 'words') {
    const mark = layout.mark.startsWith('#') ? '' : layout.mark
    return mark === '' ? [...layout.spans] : [{ ...PLAIN_SPAN, text: mark }, ...layout.spans]
  }
  if (layout.form !== 'row') return [{ ...PLAIN_SPAN, text }]
  const separator = { ...PLAIN_SPAN, text: SEPARATOR }
  return layout.cells.flatMap((cell, at) => (at === 0 ? cell : [separator, ...cell]))
}

function isSame(one: LineContext, other: LineContext): boolean {
  return one.quoted === other.quoted && one.signature === other.signature && one.cited === other.cited
}
