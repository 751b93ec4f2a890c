// The style sheets of a message, and the styles they and style attributes give its elements (CSS Cascade 5).

import { type ElementNode, type Tree, treeOf } from './document.ts'
import { Layer } from './layers.ts'
import { type Matcher, matchersOf } from './selectors.ts'
import { SheetReader } from './sheet-reader.ts'
import { expanded } from './shorthands.ts'
import { tokensOf } from './tokens.ts'
import { type Declaration, readDeclarations, substituted, Validator, type Variables, variablesOf } from './values.ts'
import { Work, WorkSpent } from './work.ts'

/** Most selectors, and characters of sheets. */
export const RULES_MAX = 2000
export const SHEET_MAX = 256 * 1024
/** Most variables of an element, and characters of a style attribute. */
export const VARIABLES_MAX = 200
export const STYLE_MAX = 2048
/** Size of the cache of style attributes: those of a message repeat. */
const STYLES_KEPT = 2000

interface Rule {
  matcher: Matcher
  layer: Layer
  order: number
  declarations: readonly Declaration[]
}

/** Styles of an element: longhands by name, and its variables. */
export interface Styles {
  properties: ReadonlyMap<string, string>
  variables: Variables
}

const NO_VARIABLES: Variables = new Map()
const NOTHING: Styles = { properties: new Map(), variables: NO_VARIABLES }
/** Fallback when the work limit is reached: not displayed. */
const HIDDEN: Styles = { properties: new Map([['display', 'none']]), variables: NO_VARIABLES }

export class StyleSheet {
  readonly #work = new Work()
  readonly #validator = new Validator(this.#work)
  readonly #layers = new Layer()
  readonly #rules = new Map<string, Rule[]>()
  readonly #styles = new Map<string, Declaration[]>()
  readonly #reader = new SheetReader(this.#validator, (...rule) => this.#add(...rule))
  #count = 0
  #room = SHEET_MAX
  #tree: Tree | null = null
  #nextElement = 0
  #isCut = false

  /** Reads one `<style>`. */
  add(text: string): void {
    if (text.length > this.#room) this.#isCut = true
    const css = text.slice(0, this.#room)
    this.#room -= css.length
    this.#safely(() => this.#reader.read(css, this.#layers), undefined)
  }

  /** Prepares for the elements of a message; `next` is called for them in document order. */
  finish(html: string): void {
    if (this.#count === 0) return
    this.#layers.ranked()
    this.#tree = treeOf(html)
  }

  /** Work steps so far. */
  get work(): number {
    return this.#work.steps
  }

  /** A part was too large or nested too deep to be read, or the work limit is reached. */
  get isCut(): boolean {
    return this.#isCut || this.#reader.isCut || this.isSpent
  }

  /** The work limit is reached; nothing more is computed. */
  get isSpent(): boolean {
    return this.#work.isSpent
  }

  /**
   * Styles of the next element.
   * @param style its style attribute
   * @param outer variables of the parent
   */
  next(style: string | null, outer: Variables | null): Styles {
    const around = outer ?? NO_VARIABLES
    const element = this.#tree?.elements[this.#nextElement++] ?? null
    if (element === null && this.#tree !== null) {
      this.#isCut = true
      return HIDDEN
    }
    if (element === null && style === null) return outer === null ? NOTHING : { ...NOTHING, variables: outer }
    return this.#safely(() => this.#computed(element, style, around), HIDDEN)
  }

  /** Styles of the `html` or `body` element when it has no tag; null when it has one. */
  implied(name: 'html' | 'body', outer: Variables | null): Styles | null {
    const element = this.#tree?.[name]
    if (element === undefined || element.isWritten) return null
    return this.#safely(() => this.#computed(element, null, outer ?? NO_VARIABLES), HIDDEN)
  }

  #computed(element: ElementNode | null, style: string | null, outer: Variables): Styles {
    const rules = element === null ? [] : this.#matching(element)
    const ordered = this.#ordered(rules, style === null ? [] : this.#own(style))
    const declared = new Map<string, string>()
    for (const { name, value } of ordered) if (name.startsWith('--')) declared.set(name, value)
    const variables = variablesOf(declared, outer, VARIABLES_MAX, this.#work)
    const properties = new Map<string, string>()
    for (const { name, value } of ordered) if (!name.startsWith('--')) this.#set(properties, name, value, variables)
    return { properties, variables }
  }

  #set(properties: Map<string, string>, name: string, written: string, variables: Variables): void {
    const filled = substituted(written, (variable) => variables.get(variable) ?? null, this.#work)
    const value = filled === null || (filled !== written && !this.#validator.isValid(name, filled)) ? 'unset' : filled
    if (value === 'revert-layer') return
    if (name === 'all') properties.clear()
    else for (const [longhand, each] of expanded(name, value)) properties.set(longhand, each)
  }

  /** All declarations for an element, the strongest last. */
  #ordered(rules: readonly Rule[], own: readonly Declaration[]): Declaration[] {
    const said = (list: readonly Declaration[], important: boolean) =>
      list.filter((each) => each.important === important)
    const normal = rules.toSorted((one, other) => byLayer(one, other) || bySelector(one, other))
    const important = rules.toSorted((one, other) => byLayer(other, one) || bySelector(one, other))
    return [
      ...normal.flatMap(({ declarations }) => said(declarations, false)),
      ...said(own, false),
      ...important.flatMap(({ declarations }) => said(declarations, true)),
      ...said(own, true),
    ]
  }

  #matching(element: ElementNode): Rule[] {
    const id = element.attributes.get('id')
    const classes = element.attributes.get('class')?.match(/[^ \t\r\n\f]+/g) ?? []
    const keys = new Set([`#${id ?? ''}`, element.tag, '*', ...classes.map((name) => `.${name}`)])
    this.#work.take(keys.size)
    const found: Rule[] = []
    for (const key of keys) {
      for (const rule of this.#rules.get(key) ?? []) {
        this.#work.take(1)
        if (rule.matcher.matches(element)) found.push(rule)
      }
    }
    return found
  }

  #own(style: string): readonly Declaration[] {
    const text = style.slice(0, STYLE_MAX)
    const known = this.#styles.get(text)
    if (known !== undefined) return known
    this.#work.take(1 + (text.length >> 3))
    const declarations = readDeclarations(tokensOf(text), this.#validator)
    if (this.#styles.size < STYLES_KEPT) this.#styles.set(text, declarations)
    return declarations
  }

  #add(selectors: string, declarations: readonly Declaration[], layer: Layer): boolean {
    for (const matcher of matchersOf(selectors, this.#work) ?? []) {
      if (this.#count >= RULES_MAX) return false
      const rule = { matcher, layer, order: this.#count++, declarations }
      const rules = this.#rules.get(matcher.key)
      if (rules === undefined) this.#rules.set(matcher.key, [rule])
      else rules.push(rule)
    }
    return true
  }

  #safely<T>(work: () => T, otherwise: T): T {
    if (this.isSpent) return otherwise
    try {
      return work()
    } catch (error) {
      if (error instanceof WorkSpent) return otherwise
      throw error
    }
  }
}

function byLayer(one: Rule, other: Rule): number {
  return one.layer.rank - other.layer.rank
}

function bySelector(one: Rule, other: Rule): number {
  return one.matcher.specificity - other.matcher.specificity || one.order - other.order
}
