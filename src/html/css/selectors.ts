// CSS selectors: the elements they match, and their specificity.

import { compile, type Options } from 'css-select'
import { AttributeAction, isTraversal, parse, type Selector, SelectorType } from 'css-what'
import type { ElementNode } from './document.ts'
import type { Work } from './work.ts'

/** Characters of a selector, including the selectors it is nested in. */
export const SELECTOR_MAX = 2048
const SPECIFICITY_MAX = 999

/** Pseudo-classes that match no element of a displayed message. */
const NEVER = (
  'hover active focus focus-visible focus-within visited target target-within fullscreen modal picture-in-picture popover-open ' +
  'open autofill -webkit-autofill playing paused current past future user-valid user-invalid indeterminate default placeholder-shown ' +
  'host valid invalid in-range out-of-range blank local-link'
).split(' ')
/** Pseudo-classes css-select supports. Its own additions to CSS make a selector invalid, as in a browser. */
const KNOWN = new Set([
  ...NEVER,
  ...'defined dir is where not has first-child last-child only-child first-of-type last-of-type only-of-type root empty'.split(
    ' ',
  ),
  ...'link any-link scope lang checked disabled enabled required optional read-only read-write'.split(' '),
  ...'nth-child nth-last-child nth-of-type nth-last-of-type'.split(' '),
])

type SelectOptions = Options<ElementNode, ElementNode>
type Adapter = NonNullable<SelectOptions['adapter']>
type Query = (element: ElementNode) => boolean

export interface Matcher {
  /** An id, a class, an element name or `*`: a necessary condition, checked before the selector is evaluated. */
  key: string
  specificity: number
  /** @throws WorkSpent */
  matches(element: ElementNode): boolean
}

/**
 * A selector list, one matcher for each selector in it.
 * @returns null for an invalid one: its rule is ignored (Selectors 4, 3.9)
 */
export function matchersOf(text: string, work: Work): Matcher[] | null {
  let selectors: Selector[][]
  try {
    selectors = parse(text)
  } catch {
    return null
  }
  if (!selectors.every(isValid)) return null
  return selectors.map((selector) => matcherOf(selector, work))
}

function matcherOf(selector: Selector[], work: Work): Matcher {
  const key = keyOf(selector)
  const specificity = packed(specificityOf(selector))
  let query: Query | null = null
  return {
    key,
    specificity,
    matches(element) {
      query ??= compiled(selector, work)
      return query(element)
    },
  }
}

/** What css-select does not support, such as pseudo-elements, matches nothing. */
function compiled(selector: Selector[], work: Work): Query {
  work.take(selector.length * 10)
  try {
    return compile<ElementNode, ElementNode>([selector], optionsOf(work))
  } catch {
    return () => false
  }
}

function optionsOf(work: Work): SelectOptions {
  return {
    adapter: new CountingAdapter(work),
    relativeSelector: false,
    pseudos: {
      ...Object.fromEntries(NEVER.map((name) => [name, () => false])),
      defined: () => true,
      empty: ({ children, hasText }: ElementNode) => children.length === 0 && !hasText,
      dir: (element: ElementNode, value?: string | null) => directionOf(element, work) === value?.trim().toLowerCase(),
    },
  }
}

function directionOf(element: ElementNode, work: Work): string {
  for (let at: ElementNode | null = element; at !== null; at = at.parent) {
    work.take(1)
    const value = at.attributes.get('dir')?.trim().toLowerCase()
    if (value === 'ltr' || value === 'rtl') return value
  }
  return 'ltr'
}

/** Adapter of css-select: every step counts against the work limit, which bounds the cost of a hostile selector. */
class CountingAdapter implements Adapter {
  readonly #work: Work

  constructor(work: Work) {
    this.#work = work
  }

  isTag = (_node: ElementNode): _node is ElementNode => {
    this.#work.take(1)
    return true
  }

  equals = (one: ElementNode, other: ElementNode): boolean => {
    this.#work.take(1)
    return one === other
  }

  getAttributeValue = (element: ElementNode, name: string): string | undefined => {
    const value = element.attributes.get(name)
    this.#work.take(1 + ((value?.length ?? 0) >> 4))
    return value
  }

  hasAttrib = (element: ElementNode, name: string): boolean => {
    this.#work.take(1)
    return element.attributes.has(name)
  }

  getChildren = ({ children }: ElementNode): ElementNode[] => {
    this.#work.take(1)
    return children
  }

  getName = ({ tag }: ElementNode): string => {
    this.#work.take(1)
    return tag
  }

  getParent = ({ parent }: ElementNode): ElementNode | null => {
    this.#work.take(1)
    return parent
  }

  getSiblings = (element: ElementNode): ElementNode[] => {
    this.#work.take(1)
    return element.parent?.children ?? [element]
  }

  prevElementSibling = ({ parent, siblingIndex }: ElementNode): ElementNode | null => {
    this.#work.take(1)
    return parent?.children[siblingIndex - 1] ?? null
  }

  /** CSS selectors do not match text. */
  getText = (): string => ''

  removeSubsets = (nodes: ElementNode[]): ElementNode[] => nodes
}

/** Prepares a selector, and removes invalid selectors from forgiving lists. */
function isValid(selector: Selector[]): boolean {
  return (
    selector.length > 0 && !isTraversal(selector[0]!) && !isTraversal(selector.at(-1)!) && selector.every(isPartValid)
  )
}

function isPartValid(part: Selector): boolean {
  if (part.type === SelectorType.Parent || part.type === SelectorType.ColumnCombinator) return false
  if (part.type === SelectorType.Attribute && part.action === AttributeAction.Not) return false
  if ('namespace' in part) {
    if (part.namespace !== null && part.namespace !== '*' && part.namespace !== '') return false
    part.namespace = null
  }
  if (part.type !== SelectorType.Pseudo) return true
  if (!KNOWN.has(part.name)) return false
  if (!Array.isArray(part.data)) return true
  if (part.name === 'is' || part.name === 'where') {
    part.data = part.data.filter(isValid)
    return true
  }
  if (part.name === 'has') return part.data.every((each) => each.length > 0 && each.every(isPartValid))
  return part.data.every(isValid)
}

type Specificity = [ids: number, classes: number, elements: number]

/** Selectors 4, 17. */
function specificityOf(selector: readonly Selector[]): Specificity {
  const sum: Specificity = [0, 0, 0]
  const add = (other: Specificity) => {
    for (const at of [0, 1, 2] as const) sum[at] += other[at]
  }
  for (const part of selector) {
    if (part.type === SelectorType.Tag || part.type === SelectorType.PseudoElement) sum[2]++
    else if (part.type === SelectorType.Attribute) {
      const isId = part.name === 'id' && part.action === AttributeAction.Equals && part.ignoreCase === 'quirks'
      sum[isId ? 0 : 1]++
    } else if (part.type === SelectorType.Pseudo && part.name !== 'where') {
      if (Array.isArray(part.data)) add(heaviest(part.data))
      else sum[1]++
    }
  }
  return sum
}

function heaviest(selectors: readonly (readonly Selector[])[]): Specificity {
  const all = selectors.map(specificityOf)
  return all.reduce<Specificity>((most, each) => (packed(each) > packed(most) ? each : most), [0, 0, 0])
}

function packed(specificity: Specificity): number {
  return specificity.reduce((sum, each) => sum * (SPECIFICITY_MAX + 1) + Math.min(each, SPECIFICITY_MAX), 0)
}

function keyOf(selector: readonly Selector[]): string {
  const last = selector.slice(selector.findLastIndex(isTraversal) + 1)
  const named = (name: string, action: AttributeAction) =>
    last.find((part) => part.type === SelectorType.Attribute && part.name === name && part.action === action)
  const id = named('id', AttributeAction.Equals)
  if (id?.type === SelectorType.Attribute && id.ignoreCase === 'quirks') return `#${id.value}`
  const word = named('class', AttributeAction.Element)
  if (word?.type === SelectorType.Attribute && word.ignoreCase === 'quirks') return `.${word.value}`
  const tag = last.find((part) => part.type === SelectorType.Tag)
  return tag?.type === SelectorType.Tag ? tag.name.toLowerCase() : '*'
}
