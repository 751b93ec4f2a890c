// Converts an HTML body to the visible lines, and reports hidden content.

import { StyleSheet } from '../../html/css/style-sheet.ts'
import { decodeEntities } from '../../html/entities.ts'
import { BLOCK, OPEN_MAX, OpenElements, VOID } from '../../html/open-elements.ts'
import { attribute, type HtmlReader, readHtml } from '../../html/tokens.ts'
import { isSeen } from '../../html/visibility.ts'
import { type Described, describe, pageOf } from './element.ts'
import {
  type CleanFormat,
  type ContentLink,
  LINES_MAX,
  LINKS_MAX,
  type Line,
  type LinkStyle,
  type SpanLink,
  TARGET_MAX,
  type TextSpan,
} from './line.ts'
import { LineWriter, type TextStyle } from './line-writer.ts'

/** Examined characters of HTML. */
export const HTML_MAX = 2 * 1024 * 1024
const LABEL_MAX = 300
const INDENT_MAX = 8

/** Blocks with an empty line around them. */
const APART = new Set('p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre figure'.split(' '))

export interface HtmlLines {
  lines: Line[]
  links: ContentLink[]
  /** Hidden text was removed. */
  hidden: boolean
  /** There were remote images. */
  remoteImages: boolean
  /** The HTML exceeded a limit of size or work. */
  cut: boolean
  /** Steps for finding open elements and rules: linear in the HTML. */
  work: number
}

/** An element that is open, and what it has begun. */
interface Element extends Described {
  row: ReturnType<LineWriter['openRow']> | null
  link: OpenLink | null
}

interface OpenLink {
  target: SpanLink
  label: string
  /** The line its words began on. */
  line: readonly TextSpan[]
}

/** Linear in the HTML, of which HTML_MAX characters count; never throws. */
export function htmlLines(html: string, format: CleanFormat, style: LinkStyle): HtmlLines {
  const read = html.length > HTML_MAX ? html.slice(0, HTML_MAX) : html
  const sheet = new StyleSheet()
  readHtml(read, {
    text: () => true,
    open() {},
    close() {},
    raw: (tag, content) => tag === 'style' && sheet.add(content),
  })
  sheet.finish(read)
  const reader = new Reader(sheet, format, style)
  readHtml(read, reader)
  return {
    ...reader.result(),
    cut: reader.isCut || sheet.isCut || read.length < html.length,
    work: sheet.work + reader.work,
  }
}

class Reader implements HtmlReader {
  isCut = false
  readonly #sheet: StyleSheet
  readonly #page: Element
  readonly #format: CleanFormat
  readonly #style: LinkStyle
  readonly #writer = new LineWriter()
  readonly #open = new OpenElements<Element>((element) => this.#leave(element))
  readonly #links: ContentLink[] = []
  readonly #known = new Set<string>()
  #hidden = false
  #remote = false
  /** Everything from here on is an earlier message. */
  #quotedFromHere = false
  /** Hidden content is nested too deep: nothing after it is shown. */
  #lost = false
  #lists = 0

  constructor(sheet: StyleSheet, format: CleanFormat, style: LinkStyle) {
    this.#sheet = sheet
    this.#page = { ...pageOf(sheet), row: null, link: null }
    this.#format = format
    this.#style = style
  }

  result(): Omit<HtmlLines, 'cut' | 'work'> {
    this.#open.endAll()
    this.#writer.lineBreak(false)
    return { lines: this.#writer.lines, links: this.#links, hidden: this.#hidden, remoteImages: this.#remote }
  }

  text(raw: string): boolean {
    const inside = this.#inside
    const text = decodeEntities(raw)
    if (this.#lost || inside.isUnseen || !isSeen(inside.looks)) {
      // Content that is never shown does not count as hidden.
      if (!inside.isUnseen && /[\p{L}\p{N}]/u.test(text)) this.#hidden = true
      return true
    }
    if (inside.isPre) this.#writer.verbatim(text)
    else this.#writer.words(text, this.#textStyle)
    const link = this.#link
    if (link !== null && link.label.length < LABEL_MAX) link.label += text
    return true
  }

  open(tag: string, attributes: string): void {
    if (this.#sheet.isSpent || this.#writer.lines.length >= LINES_MAX) {
      this.#lost = true
      this.isCut = true
    }
    this.#open.endBefore(tag)
    if (tag === 'a') this.#open.end('a')
    const described = describe(tag, attributes, this.#inside, this.#sheet)
    if (described.mark === 'from here') this.#quotedFromHere = true
    const element: Element = { ...described, row: null, link: null }
    if (VOID.has(tag)) {
      this.#void(element, attributes)
      return
    }
    if (this.#open.stack.length >= OPEN_MAX) {
      this.#open.deeper++
      if (element.isUnseen || !isSeen(element.looks)) this.#lost = true
      return
    }
    this.#open.push(element)
    this.#setContext()
    if (!element.isUnseen && isSeen(element.looks)) this.#enter(element, attributes)
  }

  close(tag: string): void {
    if (tag === 'p' || tag === 'br' || tag === 'body' || tag === 'html') this.#writer.lineBreak(false)
    this.#open.end(tag)
    this.#setContext()
  }

  get work(): number {
    return this.#open.work
  }

  get #inside(): Element {
    return this.#open.stack.at(-1) ?? this.#page
  }

  get #link(): OpenLink | null {
    return this.#open.stack.findLast(({ link }) => link !== null)?.link ?? null
  }

  get #textStyle(): TextStyle {
    const tags = new Set(this.#open.stack.map(({ tag }) => tag))
    return {
      strong: tags.has('b') || tags.has('strong'),
      emphasis: tags.has('i') || tags.has('em'),
      link: this.#link?.target ?? null,
    }
  }

  #enter(element: Element, attributes: string): void {
    const { tag } = element
    const writer = this.#writer
    if (BLOCK.has(tag)) writer.lineBreak(this.#isApart(tag))
    if (tag === 'tr') element.row = writer.openRow()
    else if (tag === 'td' || tag === 'th') {
      const row = this.#open.stack.findLast(({ row: open }) => open !== null)?.row
      if (row) writer.openCell(row, tag === 'th')
    } else if (tag === 'ul' || tag === 'ol') this.#lists++
    else if (tag === 'li') writer.mark(sameMark(this.#listMark()))
    else if (/^h[1-6]$/.test(tag)) writer.mark({ text: '', markdown: `${'#'.repeat(Number(tag[1]))} ` })
    else if (tag === 'a') this.#startLink(element, attributes)
  }

  #leave(element: Element): void {
    const { tag } = element
    const writer = this.#writer
    if (element.isUnseen || !isSeen(element.looks)) return
    if (element.link !== null) this.#endLink(element.link)
    if (element.row !== null) writer.closeRow(element.row)
    if (tag === 'ul' || tag === 'ol') this.#lists--
    if (BLOCK.has(tag)) writer.lineBreak(this.#isApart(tag))
  }

  /** Nested lists have no empty lines around them. */
  #isApart(tag: string): boolean {
    return APART.has(tag) && !(this.#lists > 0 && (tag === 'ul' || tag === 'ol'))
  }

  #void(element: Element, attributes: string): void {
    const { tag, looks } = element
    if (tag === 'img') this.#image(element, attributes)
    const inside = this.#inside
    if (this.#lost || !isSeen(looks) || inside.isUnseen) return
    if (tag === 'br') {
      if (inside.isPre) this.#writer.verbatim('\n')
      else this.#writer.forcedBreak()
    } else if (tag === 'hr') {
      this.#setContext()
      this.#writer.rule()
    } else if (tag === 'wbr') return
  }

  /** An image becomes its alternative text; invisible images are tracking pixels. */
  #image({ looks, isUnseen }: Element, attributes: string): void {
    const source = attribute(attributes, 'src') ?? ''
    if (/^\s*(?:https?:)?\/\//i.test(decodeEntities(source.slice(0, 20)))) this.#remote = true
    const isDot = ['width', 'height'].some((name) =>
      /^\s*0*[012]\s*(?:px)?\s*$/.test(attribute(attributes, name) ?? ''),
    )
    const words = attribute(attributes, 'alt')
    if (words === null || isDot || isUnseen || this.#lost || !isSeen(looks)) return
    const alt = decodeEntities(words.slice(0, LABEL_MAX)).trim()
    if (alt === '') return
    this.#writer.words(alt, this.#textStyle)
    const link = this.#link
    if (link !== null) link.label += ` ${alt} `
  }

  #setContext(): void {
    const inside = this.#inside
    this.#writer.context = {
      quoted: this.#quotedFromHere || inside.quoted,
      signature: inside.signature,
      cited: inside.cited,
    }
  }

  #listMark(): string {
    const list = this.#open.stack.findLast(({ tag }) => tag === 'ul' || tag === 'ol')
    const indent = '  '.repeat(Math.min(Math.max(this.#lists - 1, 0), INDENT_MAX))
    if (list?.count == null) return `${indent}- `
    list.count++
    return `${indent}${list.count}. `
  }

  #startLink(element: Element, attributes: string): void {
    const raw = attribute(attributes, 'href')
    const url = raw === null ? '' : decodeEntities(raw.slice(0, TARGET_MAX + 1)).replace(/[\s<>\x00-\x1f]+/g, '')
    if (url.length > TARGET_MAX || !/^(?:https?|mailto|tel):./i.test(url)) return
    element.link = { target: { url, isInline: false }, label: '', line: this.#writer.current }
  }

  #endLink({ target, label, line }: OpenLink): void {
    const { url } = target
    const text = label.replace(/\s+/g, ' ').trim()
    if (this.#links.length < LINKS_MAX && !this.#known.has(`${text} ${url}`)) {
      this.#known.add(`${text} ${url}`)
      this.#links.push({ text, url })
    }
    if (this.#style !== 'inline' || text === '' || bare(text) === bare(url)) return
    const isOneLine = line === this.#writer.current && !this.#inside.isPre
    if (this.#format === 'markdown' && isOneLine) target.isInline = true
    else this.#writer.target(url)
  }
}

function sameMark(text: string) {
  return { text, markdown: text }
}

/** An address the way people write it. */
function bare(address: string): string {
  return address
    .replace(/^(?:https?:\/\/|mailto:|tel:)/i, '')
    .replace(/\/$/, '')
    .toLowerCase()
}
