// Reads style sheets into rules: at-rules, layers and nesting resolved (CSS Syntax 3, CSS Nesting 1).

import { isForScreen, isSupportedCondition } from './conditions.ts'
import type { Layer } from './layers.ts'
import { SELECTOR_MAX } from './selectors.ts'
import { type CssToken, skipUntil, splitAtCommas, TYPE, tokensOf, trimmed } from './tokens.ts'
import { type Declaration, declarationParts, type Validator } from './values.ts'

/** Nesting depth of blocks; deeper ones are ignored. */
export const NESTING_MAX = 16

/** The context of a rule. */
interface Surroundings {
  layer: Layer
  /** The selector list of the rule it is nested in. */
  parent: string | null
  depth: number
}

/** Receives each rule. @returns false when there are too many */
export type TakeRule = (selectors: string, declarations: readonly Declaration[], layer: Layer) => boolean

export class SheetReader {
  readonly #validator: Validator
  readonly #take: TakeRule
  /** Something was too large or nested too deep to be read. */
  isCut = false
  #isFull = false
  #tokens: CssToken[] = []

  constructor(validator: Validator, take: TakeRule) {
    this.#validator = validator
    this.#take = take
  }

  /** @throws WorkSpent */
  read(css: string, layer: Layer): void {
    this.#tokens = tokensOf(css)
    this.#rules(0, this.#tokens.length, { layer, parent: null, depth: 0 })
  }

  /** Rules of a sheet, or of a block that is not in a rule. */
  #rules(from: number, to: number, around: Surroundings): void {
    for (let at = from; at < to && !this.#isFull; ) {
      const { type } = this.#tokens[at]!
      const isNoise =
        type === TYPE.WhiteSpace || type === TYPE.CDO || type === TYPE.CDC || type === TYPE.RightCurlyBracket
      if (isNoise) at++
      else if (type === TYPE.AtKeyword) at = this.#atRule(at, to, around)
      else at = this.#rule(at, to, around)
    }
  }

  /** The content of a rule: declarations, at-rules and rules (CSS Syntax 3, 5.5.4). */
  #content(from: number, to: number, around: Surroundings): void {
    let declarations: Declaration[] = []
    const flush = () => {
      if (declarations.length > 0 && around.parent !== null) this.#add(around.parent, declarations, around.layer)
      declarations = []
    }
    for (let at = from; at < to && !this.#isFull; ) {
      const { type } = this.#tokens[at]!
      if (type === TYPE.WhiteSpace || type === TYPE.Semicolon || type === TYPE.RightCurlyBracket) {
        at++
        continue
      }
      if (type === TYPE.AtKeyword) {
        flush()
        at = this.#atRule(at, to, around)
        continue
      }
      const end = this.#declarationEnd(at, to)
      const parts = end === null ? null : declarationParts(trimmed(this.#tokens.slice(at, end)))
      if (end !== null && (parts !== null || this.#tokens[end]?.type !== TYPE.LeftCurlyBracket)) {
        const declaration = parts && this.#validator.declaration(parts.name, parts.value)
        if (declaration) declarations.push(declaration)
        at = end + 1
      } else {
        flush()
        at = this.#rule(at, to, around)
      }
    }
    flush()
  }

  /** End of a declaration that begins here; null when a block comes first: then it is a rule, unless it is a custom property. */
  #declarationEnd(at: number, to: number): number | null {
    const isCustom = this.#tokens[at]!.value.startsWith('--')
    const isEnd = ({ type }: CssToken) => type === TYPE.Semicolon || (!isCustom && type === TYPE.LeftCurlyBracket)
    const end = skipUntil(this.#tokens, at, to, isEnd)
    return this.#tokens[end]?.type === TYPE.LeftCurlyBracket && end < to ? null : end
  }

  /** A rule with a selector. @returns the index after it */
  #rule(at: number, to: number, around: Surroundings): number {
    const open = skipUntil(this.#tokens, at, to, ({ type }) => type === TYPE.LeftCurlyBracket)
    if (open >= to || this.#tokens[open]!.type !== TYPE.LeftCurlyBracket) return open + 1
    const close = this.#closing(open, to)
    const inside = this.#within(around)
    const parent = inside && this.#selectors(this.#tokens.slice(at, open), around.parent)
    if (parent) this.#content(open + 1, close, { ...inside, parent })
    return close + 1
  }

  #atRule(at: number, to: number, around: Surroundings): number {
    const name = this.#tokens[at]!.value.slice(1)
    const isEnd = ({ type }: CssToken) => type === TYPE.LeftCurlyBracket || type === TYPE.Semicolon
    const open = skipUntil(this.#tokens, at + 1, to, isEnd)
    const prelude = trimmed(this.#tokens.slice(at + 1, open))
    if (open >= to || this.#tokens[open]!.type !== TYPE.LeftCurlyBracket) {
      if (name === 'layer') for (const each of splitAtCommas(prelude)) around.layer.named(nameOf(each))
      return open + 1
    }
    const close = this.#closing(open, to)
    const inside = this.#inside(name, prelude, around)
    if (inside === null) return close + 1
    if (inside.parent === null) this.#rules(open + 1, close, inside)
    else this.#content(open + 1, close, inside)
    return close + 1
  }

  /** The context inside an at-rule; null when its content is ignored. */
  #inside(name: string, prelude: readonly CssToken[], around: Surroundings): Surroundings | null {
    const inside = this.#within(around)
    if (inside === null) return null
    if (name === 'media') return isForScreen(prelude) ? inside : null
    if (name === 'supports') return isSupportedCondition(prelude) ? inside : null
    if (name === 'layer') return { ...inside, layer: around.layer.named(nameOf(prelude)) }
    if (name !== 'scope') return null
    // The limit after "to" is ignored: rules then match more elements, not fewer.
    const end = skipUntil(prelude, 1, prelude.length, ({ type }) => type === TYPE.RightParenthesis)
    const root = prelude[0]?.type === TYPE.LeftParenthesis ? prelude.slice(1, end) : []
    const parent = root.length === 0 ? ':root' : this.#selectors(root, around.parent)
    return parent === null ? null : { ...inside, parent }
  }

  #within(around: Surroundings): Surroundings | null {
    if (around.depth < NESTING_MAX) return { ...around, depth: around.depth + 1 }
    this.isCut = true
    return null
  }

  #closing(open: number, to: number): number {
    return skipUntil(this.#tokens, open + 1, to, ({ type }) => type === TYPE.RightCurlyBracket)
  }

  /** A top-level selector list; null for one that is too long. */
  #selectors(prelude: readonly CssToken[], parent: string | null): string | null {
    const list = splitAtCommas(prelude).map((each) => (parent === null ? text(each, ':root') : nested(each, parent)))
    const all = list.join(',')
    if (all.length <= SELECTOR_MAX) return all
    this.isCut = true
    return null
  }

  #add(selectors: string, declarations: readonly Declaration[], layer: Layer): void {
    if (this.#take(selectors, declarations, layer)) return
    this.#isFull = true
    this.isCut = true
  }
}

/** `&` stands for the enclosing rule; without `&` the selector matches descendants of its elements. */
function nested(selector: readonly CssToken[], parent: string): string {
  const around = `:is(${parent})`
  if (selector.some(isAmpersand)) return text(selector, around)
  return `${around} ${text(selector, around)}`
}

function isAmpersand({ type, value }: CssToken): boolean {
  return type === TYPE.Delim && value === '&'
}

function text(selector: readonly CssToken[], ampersand: string): string {
  // A type selector must come first: "&div" is written "div&".
  return selector.map((token) => (isAmpersand(token) ? ampersand : token.raw)).join('')
}

function nameOf(prelude: readonly CssToken[]): string {
  return prelude.map(({ value }) => value).join('')
}
