// Converts an HTML body to visible plain text: hidden elements removed, blocks on lines of their own.

import { decodeEntities } from './entities.ts'
import { fontSizeOf, isCrowded, isGone, isInvisible, letterSpacingOf, TINY_PX, zoomOf } from './hiding.ts'
import { readStyle } from './style-attribute.ts'
import { attribute, type HtmlReader, readHtml } from './tokens.ts'

/** Characters of HTML that are read, and of text that is produced. */
export const HTML_MAX = 2 * 1024 * 1024
export const HTML_TEXT_MAX = 256 * 1024
/** Characters of a style attribute that are read, and of a link's target that is shown. */
const STYLE_MAX = 2048
const TARGET_MAX = 2048
const FONT_PX = 16
/** Levels of quotation that are marked; deeper ones look like the last. */
const QUOTE_MARKS_MAX = 10

const words = (text: string): Set<string> => new Set(text.split(' '))

/** Elements without visible content, in addition to raw text elements, which the tokeniser omits. */
const UNSEEN = words('template noscript object audio video canvas map select datalist svg math')
/** Void elements. */
const VOID = words('area base br col embed hr img input link meta param source track wbr basefont bgsound frame keygen')
/** Block elements. */
const BLOCK = words(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody tfoot thead tr ul',
)
/** Blocks with an empty line around them. */
const APART = words('p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre')
/** Elements that end where their like begins (HTML standard 13.1.2.4): a hidden one without end hides no more than itself. */
const ENDED_BY: ReadonlyMap<string, Set<string>> = new Map([
  ['p', new Set([...BLOCK].filter((tag) => tag !== 'body' && tag !== 'html'))],
  ['li', words('li')],
  ['dt', words('dt dd')],
  ['dd', words('dt dd')],
  ['tr', words('tr tbody tfoot')],
  ['td', words('td th tr')],
  ['th', words('td th tr')],
])

/**
 * Readable text with LF line ends. Linear in the HTML, of which HTML_MAX characters are read; never throws.
 * @param alternative for a text alternative: adds the target of each link behind its text, and ">" before quoted lines
 */
export function htmlToText(html: string, { alternative = false } = {}): string {
  const reader = new VisibleText(alternative)
  readHtml(html.length > HTML_MAX ? html.slice(0, HTML_MAX) : html, reader)
  return reader.result()
}

/** What an element has that hides itself by its attributes; nearly all that do not, have none of it. */
const MAY_HIDE =
  /hidden|none|opacity|indent|position|transform|scale|translate|clip|zoom|spacing|\/\*|-\d{3}|&|\\|font(?:-size)?\s*:[^;"']{0,30}?(?<![\d.])(?:[0-2](?:\.\d+)?|\.\d+)(?:px|pt|em|rem|%|[\s;"'/]|$)/i

/** True when the element is not shown, by its name or by its own attributes; style sheets are not looked at. */
function isHidden(tag: string, attributes: string): boolean {
  if (UNSEEN.has(tag)) return true
  // Fast path: most tags match neither; a "&" may encode a letter.
  if (!MAY_HIDE.test(attributes)) return false
  if (attribute(attributes, 'hidden') !== null) return true
  const style = attribute(attributes, 'style')
  return style !== null && hidesByStyle(tag, decodeEntities(style.slice(0, STYLE_MAX)))
}

/** By its own style alone; what is hidden by a style sheet or by its colours is found where it matters (clean/visibility.ts). */
function hidesByStyle(tag: string, style: string): boolean {
  const styles = readStyle(style)
  const fontSize = fontSizeOf(styles, FONT_PX)
  if (isGone(styles, fontSize, false) || isInvisible(styles, false)) return true
  return (
    fontSize * zoomOf(styles, tag === 'body' || tag === 'html') <= TINY_PX ||
    isCrowded(letterSpacingOf(styles, fontSize, 0), fontSize)
  )
}

/** A URL without scheme and trailing slash, as people write it. */
function bare(address: string): string {
  return address.replace(/^(?:https?:\/\/|mailto:|tel:)/i, '').replace(/\/$/, '')
}

/** Collects the text; while inside a hidden element it only counts how deep. */
class VisibleText implements HtmlReader {
  private readonly pieces: string[] = []
  private length = 0
  /** Line breaks and a space that are due before the next word. */
  private breaks = 0
  private space = false
  private preformatted = 0
  private hidden = ''
  private depth = 0
  private readonly alternative: boolean
  /** Open quotations around the next word, and around the line before it. */
  private quotes = 0
  private quotesBefore = 0
  /** The link being read: where it leads, and the piece its words begin with. */
  private link: { target: string; from: number } | null = null

  constructor(alternative: boolean) {
    this.alternative = alternative
  }

  text(raw: string): boolean {
    if (this.depth > 0) return true
    const text = decodeEntities(raw)
    if (this.preformatted > 0) this.addLines(text)
    else this.addWords(text)
    return this.length < HTML_TEXT_MAX
  }

  open(tag: string, attributes: string): void {
    if (this.depth > 0 && ENDED_BY.get(this.hidden)?.has(tag)) this.depth = 0
    if (this.depth > 0) {
      if (tag === this.hidden) this.depth++
      return
    }
    if (tag === 'br') this.breaks = Math.min(this.breaks + 1, 2)
    else if (VOID.has(tag)) {
      if (tag === 'hr') this.block(1)
    } else if (isHidden(tag, attributes)) {
      this.hidden = tag
      this.depth = 1
    } else {
      if (tag === 'a' && this.alternative) this.startLink(attributes)
      this.show(tag)
    }
  }

  close(tag: string): void {
    if (this.depth > 0) {
      if (tag === this.hidden) this.depth--
      return
    }
    if (tag === 'a') this.endLink()
    if (tag === 'pre') this.preformatted = Math.max(0, this.preformatted - 1)
    this.show(tag, false)
  }

  result(): string {
    this.endLink()
    return this.pieces.join('').slice(0, HTML_TEXT_MAX).toWellFormed().trim()
  }

  private show(tag: string, opens = true): void {
    if (opens && tag === 'pre') this.preformatted++
    if (tag === 'blockquote' && this.alternative) this.quotes = Math.max(0, this.quotes + (opens ? 1 : -1))
    if (tag === 'td' || tag === 'th') this.space = true
    else if (BLOCK.has(tag)) this.block(APART.has(tag) ? 2 : 1)
  }

  private startLink(attributes: string): void {
    this.endLink()
    const raw = attribute(attributes, 'href')
    const target = raw === null ? '' : decodeEntities(raw.slice(0, TARGET_MAX + 1)).replace(/[\s<>\x00-\x1f]+/g, '')
    if (target.length <= TARGET_MAX && /^(?:https?|mailto|tel):./i.test(target)) {
      this.link = { target, from: this.pieces.length }
    }
  }

  /** RFC 3986 appendix C: angle brackets show where an address ends. Words that are the address need it no second time. */
  private endLink(): void {
    if (this.link === null) return
    const { target, from } = this.link
    this.link = null
    const text = this.pieces
      .slice(from)
      .join('')
      .replace(/^[\s>]+/, '')
      .trim()
    if (bare(text) === bare(target)) return
    if (text !== '') this.space = true
    this.addWord(`<${target}>`)
  }

  private block(breaks: number): void {
    this.breaks = Math.max(this.breaks, breaks)
  }

  private addLines(text: string): void {
    for (const [index, line] of text.replace(/\r\n?/g, '\n').split('\n').entries()) {
      if (index > 0) this.breakLines(1)
      if (line !== '') this.addWord(line)
    }
  }

  private addWords(text: string): void {
    const folded = /[\t\r\n\f\u00a0]| {2}/.test(text)
      ? text.replace(/[ \t\r\n\f]+/g, ' ').replaceAll('\u00a0', ' ')
      : text
    // No-break spaces alone, an empty line of some editors, are no word.
    const word = folded.trim()
    if (folded.startsWith(' ')) this.space = true
    if (word === '') return
    this.addWord(word)
    this.space = folded.endsWith(' ')
  }

  private addWord(word: string): void {
    if (this.length === 0) this.breakLines(0)
    else if (this.breaks > 0) this.breakLines(this.breaks)
    else if (this.space) this.push(' ')
    this.breaks = 0
    this.space = false
    this.push(word)
  }

  /** RFC 3676 §4.5: each line of a quotation begins with its marks. Empty lines at its edges are outside. */
  private breakLines(count: number): void {
    const marks = (quotes: number) => '>'.repeat(Math.min(quotes, QUOTE_MARKS_MAX))
    const outer = marks(Math.min(this.quotes, this.quotesBefore))
    const inner = this.quotes === 0 ? '' : `${marks(this.quotes)} `
    if (count === 0) this.push(inner)
    else this.push(`${`\n${outer}`.repeat(count - 1)}\n${inner}`)
    this.quotesBefore = this.quotes
  }

  private push(text: string): void {
    this.pieces.push(text)
    this.length += text.length
  }
}
