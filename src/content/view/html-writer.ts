// Writes the HTML of a message again: allowed elements and attributes only, own addresses, quotations folded.

import type { StyleSheet } from '../../html/css/style-sheet.ts'
import { decodeEntities } from '../../html/entities.ts'
import { escapeHtml } from '../../html/escape.ts'
import { BLOCK, OPEN_MAX, OpenElements, VOID } from '../../html/open-elements.ts'
import { attribute, attributesOf, type HtmlReader } from '../../html/tokens.ts'
import { isSeen } from '../../html/visibility.ts'
import { type Described, describe, pageOf } from '../clean/element.ts'
import { attributeKind, DROPPED, isShort, TABLE_PARTS, WRITTEN } from './elements.ts'
import { Folds } from './folds.ts'
import { type Pictures, TINY_PICTURE_PX } from './pictures.ts'
import { ID_PREFIX, type StyleRewriter } from './styles.ts'
import { linkAddress, type ViewLink, type ViewLinks } from './view-links.ts'

/** Tags that are read; what follows is cut. */
export const TAGS_MAX = 100_000
const ATTRIBUTES_MAX = 60
/** A transparent pixel: stands where a picture is left out, in its size. */
const NO_PICTURE = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'

interface Element extends Described {
  /** What ends it in the document. */
  end: string
  isDropped: boolean
  link: ViewLink | null
}

export interface HtmlWriterDeps {
  sheet: StyleSheet
  styles: StyleRewriter
  pictures: Pictures
  links: ViewLinks
  isQuoteOpen: boolean
}

export class HtmlWriter implements HtmlReader {
  isCut = false
  hiddenChars = 0
  readonly #deps: HtmlWriterDeps
  readonly #folds: Folds
  readonly #page: Element
  readonly #open: OpenElements<Element>
  #tags = 0

  constructor(deps: HtmlWriterDeps) {
    this.#deps = deps
    this.#folds = new Folds(deps.isQuoteOpen)
    this.#page = { ...pageOf(deps.sheet), end: '', isDropped: false, link: null }
    this.#open = new OpenElements<Element>((element) => this.#leave(element))
  }

  /** The body of the document, once everything was read. */
  result(): { body: string; hasQuote: boolean } {
    this.#open.endAll()
    return this.#folds.result()
  }

  text(raw: string): boolean {
    if (this.isCut) return false
    const inside = this.#inside
    if (inside.isDropped) return true
    const isHidden = !inside.isUnseen && !isSeen(inside.looks)
    const text = decodeEntities(raw)
    if (isHidden) this.hiddenChars += text.trim().length
    const link = this.#open.stack.findLast((element) => element.link !== null)?.link
    if (link) this.#deps.links.add(link, text)
    // Character references stay as they are: in text they make no markup.
    this.#folds.text(raw.replaceAll('<', '&lt;').replaceAll('>', '&gt;'), isHidden ? '' : text)
    return true
  }

  open(tag: string, attributes: string): void {
    if (this.isCut || ++this.#tags > TAGS_MAX) {
      this.isCut = true
      return
    }
    this.#open.endBefore(tag)
    if (tag === 'a') this.#open.end('a')
    const outer = this.#inside
    // Beyond the bound of its work the sheet calls everything hidden.
    const { sheet } = this.#deps
    const described = sheet.isSpent ? { ...outer, tag, mark: null } : describe(tag, attributes, outer, sheet)
    const isDropped = outer.isDropped || DROPPED.has(tag)
    const element: Element = { ...described, end: '', isDropped, link: null }
    if (VOID.has(tag)) {
      if (!isDropped && WRITTEN.has(tag)) this.#void(element, attributes)
      return
    }
    if (this.#open.stack.length >= OPEN_MAX) {
      this.#open.deeper++
      return
    }
    if (!isDropped) this.#enter(element, attributes, outer)
    this.#open.push(element)
  }

  close(tag: string): void {
    this.#open.end(tag)
  }

  get #inside(): Element {
    return this.#open.stack.at(-1) ?? this.#page
  }

  #enter(element: Element, attributes: string, outer: Element): void {
    const { tag } = element
    if (BLOCK.has(tag)) this.#folds.line()
    const isTablePart = TABLE_PARTS.has(outer.tag)
    if (element.mark === 'from here' && !isTablePart && this.#folds.open()) this.#fromHere(element)
    const isQuote = element.mark === 'quote' || (tag === 'blockquote' && this.#folds.isIntroduced())
    const folds = isQuote && !isTablePart && !/^t[dhr]$|^tbody$/.test(tag) && this.#folds.open()
    // The page is a `div`, which has the style of its tag.
    const name = tag === 'html' || tag === 'body' ? 'div' : tag
    if (WRITTEN.has(name)) {
      this.#folds.markup(`<${name}${this.#attributes(element, attributes)}>`)
      element.end = `</${name}>`
    }
    if (folds) element.end += Folds.END
  }

  /** Everything up to the end of what is around the element is an earlier message. */
  #fromHere({ looks }: Element): void {
    const { tag: _, ...around } = { ...this.#inside, looks }
    this.#open.push({ ...around, tag: '#quotation', end: Folds.END, link: null })
  }

  #leave(element: Element): void {
    if (element.isDropped) return
    if (BLOCK.has(element.tag)) this.#folds.line()
    if (element.link !== null) this.#deps.links.close(element.link)
    this.#folds.end(element.end)
  }

  #void(element: Element, attributes: string): void {
    const { tag } = element
    if (tag === 'br' || tag === 'hr') this.#folds.line()
    const written = this.#attributes(element, attributes)
    if (tag !== 'img') {
      this.#folds.markup(`<${tag}${written}>`)
      return
    }
    const source = value(attributes, 'src') ?? firstOf(value(attributes, 'srcset'))
    const use = source === null ? null : this.#deps.pictures.use(source, isTiny(attributes) || !isSeen(element.looks))
    if (use === null) return
    const shown = 'address' in use ? `src="${escapeHtml(use.address)}"` : `src="${NO_PICTURE}" data-blocked`
    this.#folds.markup(`<img${written} ${shown}>`)
  }

  #attributes(element: Element, attributes: string): string {
    if (attributes.trim() === '') return ''
    const { tag } = element
    const given = new Map<string, string>()
    for (const [name, raw] of attributesOf(attributes, ATTRIBUTES_MAX)) {
      if (!given.has(name)) given.set(name, decodeEntities(raw))
    }
    if (tag === 'html' || tag === 'body') return this.#pageAttributes(given)
    let text = ''
    for (const [name, written] of given) text += this.#attribute(tag, name, written)
    return tag === 'a' || tag === 'area' ? text + this.#link(element, given.get('href') ?? null) : text
  }

  /** What the page says of its look becomes the style of a `div`. */
  #pageAttributes(given: ReadonlyMap<string, string>): string {
    const { styles } = this.#deps
    const of = (name: string, property: string) =>
      given.has(name) ? styles.attribute(`${property}:${given.get(name)!.replace(/[;{}]/g, '')}`) : ''
    const style = [of('bgcolor', 'background-color'), of('text', 'color'), styles.attribute(given.get('style') ?? '')]
    const all = style.filter((one) => one !== '').join(';')
    let text = all === '' ? '' : ` style="${escapeHtml(all)}"`
    for (const name of ['class', 'dir', 'lang'])
      if (given.has(name)) text += this.#attribute('div', name, given.get(name)!)
    return text
  }

  #attribute(tag: string, name: string, given: string): string {
    const { styles, pictures } = this.#deps
    if (name === 'style') {
      const style = styles.attribute(given)
      return style === '' ? '' : ` style="${escapeHtml(style)}"`
    }
    if (name === 'background') {
      const use = pictures.use(given, false)
      return 'address' in use ? ` background="${escapeHtml(use.address)}"` : ''
    }
    if (name === 'bgcolor' || name === 'color') styles.hasColors = true
    const kind = isShort(given) ? attributeKind(tag, name) : null
    if (kind === null) return ''
    if (kind === 'kept') return ` ${name}="${escapeHtml(given)}"`
    const hash = name === 'usemap' ? '#' : ''
    return ` ${tag === 'a' ? 'id' : name}="${hash}${ID_PREFIX}${escapeHtml(given.replace(/^#/, ''))}"`
  }

  #link(element: Element, written: string | null): string {
    if (written === null) return ''
    const inside = /^\s*#(.+)$/.exec(written)?.[1]
    if (inside !== undefined) return ` href="#${ID_PREFIX}${escapeHtml(inside)}"`
    const href = linkAddress(written)
    if (href === null) return ''
    const link = this.#deps.links.open(href)
    if (element.tag === 'a') element.link = link
    const number = link === null ? '' : ` data-link="${link.n}"`
    const shown = escapeHtml(href)
    return ` href="${shown}" title="${shown}" target="_blank" rel="noopener noreferrer nofollow"${number}`
  }
}

function value(attributes: string, name: string): string | null {
  const raw = attribute(attributes, name)
  return raw === null ? null : decodeEntities(raw)
}

function firstOf(sources: string | null): string | null {
  return sources === null ? null : (sources.trim().split(/[\s,]/, 1)[0] ?? null)
}

function isTiny(attributes: string): boolean {
  const isSmall = (name: string) => {
    const pixels = /^\s*(\d{1,6})(?:\.\d+)?\s*(?:px)?\s*$/.exec(attribute(attributes, name) ?? '')?.[1]
    return pixels !== undefined && Number(pixels) <= TINY_PICTURE_PX
  }
  if (isSmall('width') || isSmall('height')) return true
  return /(?:^|[;\s"'])(?:max-)?(?:width|height)\s*:\s*[0-3](?:\.\d+)?px/i.test(attribute(attributes, 'style') ?? '')
}
