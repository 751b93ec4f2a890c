// The stack of open elements while HTML is read, with implied end tags as in browsers.

const words = (text: string): Set<string> => new Set(text.split(' '))

/** Void elements. */
export const VOID = words(
  'area base br col embed hr img input link meta param source track wbr basefont bgsound frame keygen',
)
/** Block elements. */
export const BLOCK = words(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul',
)
/** Elements whose end tag does not close elements opened inside them (HTML standard 13.2.6.4.7, the adoption agency). */
const FORMATTING = words('a b big code em font i nobr s small strike strong tt u')
/** Scope boundaries: an end tag inside them does not close elements outside. */
const WALLS = words('table td th caption html template marquee object')
/** Elements closed by the start of a similar one, and the scope boundary of that rule. */
const ENDED_BY: ReadonlyMap<string, { by: Set<string>; within: Set<string> }> = new Map([
  [
    'p',
    {
      by: new Set([...BLOCK].filter((tag) => !/^(?:body|html|t[dhr]|t(?:body|foot|head)|caption)$/.test(tag))),
      within: WALLS,
    },
  ],
  ['li', { by: words('li'), within: words('ul ol menu table td th') }],
  ['dt', { by: words('dt dd'), within: words('dl table td th') }],
  ['dd', { by: words('dt dd'), within: words('dl table td th') }],
  ['option', { by: words('option optgroup'), within: words('select') }],
  ['td', { by: words('td th tr tbody tfoot thead'), within: words('table') }],
  ['th', { by: words('td th tr tbody tfoot thead'), within: words('table') }],
  ['tr', { by: words('tr tbody tfoot thead'), within: words('table') }],
])
/** The elements a start tag may close, by the name of the start tag. */
const ENDS = new Map<string, string[]>()
for (const [ended, { by }] of ENDED_BY) for (const tag of by) ENDS.set(tag, [...(ENDS.get(tag) ?? []), ended])

/** Open elements at most; what is nested deeper is read as part of the innermost. */
export const OPEN_MAX = 256

export class OpenElements<T extends { tag: string }> {
  readonly stack: T[] = []
  /** Number of open elements beyond OPEN_MAX. */
  deeper = 0
  /** Elements that were looked at. */
  work = 0
  readonly #closed: (element: T) => void

  /** @param closed called for every element that ends, the innermost first */
  constructor(closed: (element: T) => void) {
    this.#closed = closed
  }

  /** Closes the elements that the start of this element closes. */
  endBefore(tag: string): void {
    for (const ended of ENDS.get(tag) ?? []) {
      const at = this.#find(ended, ENDED_BY.get(ended)!.within)
      if (at >= 0) this.#endFrom(at)
    }
  }

  push(element: T): void {
    this.stack.push(element)
  }

  /** Reads an end tag. Those of the body and the page end nothing: content behind them belongs to the body (HTML standard, 13.2.6.4.19). */
  end(tag: string): void {
    if (tag === 'body' || tag === 'html') return
    if (this.deeper > 0) {
      this.deeper--
      return
    }
    if (FORMATTING.has(tag)) {
      const at = this.#find(tag, WALLS)
      if (at < 0) return
      const [ended] = this.stack.splice(at, 1)
      this.#closed(ended!)
      return
    }
    const at = this.#find(tag, BLOCK.has(tag) ? this.#wallsOf(tag) : BLOCK)
    if (at >= 0) this.#endFrom(at)
  }

  endAll(): void {
    this.#endFrom(0)
  }

  /** Tables and their parts can be closed from inside their cells. */
  #wallsOf(tag: string): Set<string> {
    return /^(?:table|t[dhr]|t(?:body|foot|head)|caption|body|html)$/.test(tag) ? NO_WALLS : WALLS
  }

  /** Index of the innermost element of that name, -1 when there is none within the scope. */
  #find(tag: string, walls: Set<string>): number {
    for (let at = this.stack.length - 1; at >= 0; at--) {
      this.work++
      const { tag: open } = this.stack[at]!
      if (open === tag) return at
      if (walls.has(open)) return -1
    }
    return -1
  }

  #endFrom(at: number): void {
    while (this.stack.length > at) this.#closed(this.stack.pop()!)
  }
}

const NO_WALLS = new Set<string>()
