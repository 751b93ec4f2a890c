// The elements of a message as a tree, for selectors that need parents, siblings and positions.

import { decodeEntities } from '../entities.ts'
import { OPEN_MAX, OpenElements, VOID } from '../open-elements.ts'
import { attributesOf, type HtmlReader, readHtml } from '../tokens.ts'

/** Elements of a tree; further ones are not displayed. */
export const ELEMENTS_MAX = 100_000
/** Attributes of an element, and characters of one, visible to selectors. */
const ATTRIBUTES_MAX = 64
const ATTRIBUTE_MAX = 2048

export class ElementNode {
  readonly tag: string
  readonly parent: ElementNode | null
  readonly children: ElementNode[] = []
  /** Index among the children of its parent. */
  readonly siblingIndex: number
  hasText = false
  /** It has a start tag; false for an element the HTML parser adds. */
  isWritten: boolean
  #source: string
  #attributes: Map<string, string> | null = null

  constructor(tag: string, source: string, parent: ElementNode | null, isImplied = false) {
    this.tag = tag
    this.#source = source
    this.parent = parent
    this.isWritten = !isImplied
    this.siblingIndex = parent === null ? 0 : parent.children.push(this) - 1
  }

  get attributes(): ReadonlyMap<string, string> {
    if (this.#attributes === null) {
      this.#attributes = new Map()
      for (const [name, value] of attributesOf(this.#source, ATTRIBUTES_MAX)) {
        if (!this.#attributes.has(name)) this.#attributes.set(name, decodeEntities(value.slice(0, ATTRIBUTE_MAX)))
      }
      this.#source = ''
    }
    return this.#attributes
  }

  /** Takes over the attributes of the tag of an implied element. */
  describe(source: string): void {
    if (!this.isWritten) this.#source = source
    this.isWritten = true
  }
}

/** Elements that imply a head when they occur before the body. */
const OF_HEAD = new Set(['base', 'link', 'meta', 'noscript', 'script', 'style', 'template', 'title', 'head'])
const OF_TABLE = new Set(['tbody', 'thead', 'tfoot'])

export interface Tree {
  /** The element of each start tag, in the order of the tags; fewer when there are more than ELEMENTS_MAX. */
  elements: ElementNode[]
  /** Elements that exist even without tags. */
  html: ElementNode
  body: ElementNode
}

export function treeOf(html: string): Tree {
  const builder = new TreeBuilder()
  readHtml(html, builder)
  return { elements: builder.elements, html: builder.html, body: builder.body }
}

class TreeBuilder implements HtmlReader {
  readonly elements: ElementNode[] = []
  readonly html = new ElementNode('html', '', null, true)
  readonly #head = new ElementNode('head', '', this.html, true)
  #body: ElementNode | null = null
  readonly #open = new OpenElements<{ tag: string; node: ElementNode }>(() => {})

  text(raw: string): boolean {
    if (/[^ \t\r\n\f]/.test(raw)) this.#inside().hasText = true
    return this.elements.length < ELEMENTS_MAX
  }

  open(tag: string, attributes: string): void {
    if (this.elements.length >= ELEMENTS_MAX) return
    this.#open.endBefore(tag)
    if (tag === 'a') this.#open.end('a')
    const node = this.#nodeOf(tag, attributes)
    this.elements.push(node)
    if (VOID.has(tag)) return
    if (this.#open.stack.length >= OPEN_MAX) this.#open.deeper++
    else this.#open.push({ tag, node })
  }

  close(tag: string): void {
    this.#open.end(tag)
  }

  get body(): ElementNode {
    this.#body ??= new ElementNode('body', '', this.html, true)
    return this.#body
  }

  #nodeOf(tag: string, attributes: string): ElementNode {
    if (tag === 'html' || tag === 'head' || tag === 'body') {
      const node = tag === 'html' ? this.html : tag === 'head' ? this.#head : this.body
      node.describe(attributes)
      return node
    }
    const isOfHead = this.#body === null && OF_HEAD.has(tag)
    return new ElementNode(tag, attributes, parentOf(tag, isOfHead ? this.#headOr() : this.#inside()))
  }

  #headOr(): ElementNode {
    const node = this.#open.stack.at(-1)?.node
    return node === undefined || node === this.html ? this.#head : node
  }

  /** Parent of text and elements: the body, once there is any. */
  #inside(): ElementNode {
    const node = this.#open.stack.at(-1)?.node
    return node === undefined || node === this.html ? this.body : node
  }
}

/** Rows are in a table body, cells in a row, even without their tags (HTML standard, 13.2.6.4). */
function parentOf(tag: string, inside: ElementNode): ElementNode {
  if (tag === 'tr') return inside.tag === 'table' ? implied(inside, 'tbody') : inside
  if (tag !== 'td' && tag !== 'th') return inside
  if (inside.tag === 'table') return implied(implied(inside, 'tbody'), 'tr')
  return OF_TABLE.has(inside.tag) ? implied(inside, 'tr') : inside
}

function implied(inside: ElementNode, tag: string): ElementNode {
  const last = inside.children.at(-1)
  return last?.isWritten === false && last.tag === tag ? last : new ElementNode(tag, '', inside, true)
}
