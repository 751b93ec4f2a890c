// Declarations that determine whether text is visible: their validity, and values after substitution of variables.

import { lexer } from 'css-tree/dist/csstree.esm'
import { type CssToken, meaningOf, skipUntil, splitAtCommas, TYPE, tokensOf, trimmed } from './tokens.ts'
import type { Work } from './work.ts'

/** Characters of a value, also after substitution. */
export const VALUE_MAX = 1024
/** Tokens and parts of a value, or of a background layer, that can be valid. */
const VALUE_TOKENS_MAX = 200
const VALUE_PARTS_MAX = 16
/** Nesting depth of variables. */
const VARIABLE_DEPTH_MAX = 16
/** Work steps to validate a value. */
const VALIDATION_STEPS = 100

export interface Declaration {
  name: string
  /** Normalised text (tokens.ts). */
  value: string
  important: boolean
}

/** Properties in use; the cascade expands shorthands. */
const PROPERTIES = new Set(
  (
    'all display visibility font-size font opacity color background background-color background-image position left top right bottom ' +
    'inset inset-inline inset-block text-indent margin margin-left margin-top margin-inline margin-block transform scale translate ' +
    'rotate clip clip-path width height max-width max-height overflow overflow-x overflow-y filter -webkit-text-fill-color ' +
    'content-visibility zoom letter-spacing line-height'
  ).split(' '),
)
/** Aliases. */
const ALIASES = new Map(
  Object.entries({
    'inset-inline-start': 'left',
    'inset-inline-end': 'right',
    'inset-block-start': 'top',
    'inset-block-end': 'bottom',
    'margin-inline-start': 'margin-left',
    'margin-block-start': 'margin-top',
    'inline-size': 'width',
    'block-size': 'height',
    'max-inline-size': 'max-width',
    'max-block-size': 'max-height',
    'overflow-inline': 'overflow-x',
    'overflow-block': 'overflow-y',
    '-webkit-transform': 'transform',
    '-webkit-filter': 'filter',
    '-webkit-clip-path': 'clip-path',
    '-webkit-opacity': 'opacity',
  }),
)
const WIDE = /^(?:inherit|initial|unset|revert|revert-layer)$/
/** Lengths without a unit are pixels where a page has no doctype, as most messages (Quirks Mode, 4.2). */
const UNITLESS = /^(?:font-size|text-indent|margin|(?:max-)?(?:width|height)|letter-spacing|left|top|right|bottom)/

/** Validates values, and caches the results for one message. */
export class Validator {
  readonly #work: Work
  readonly #known = new Map<string, boolean>()

  constructor(work: Work) {
    this.#work = work
  }

  /** @throws WorkSpent */
  isValid(name: string, value: string): boolean {
    const key = `${name}:${value}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const { valid, steps } = validity(name, value)
    this.#work.take(VALIDATION_STEPS + steps)
    this.#known.set(key, valid)
    return valid
  }

  /**
   * A valid declaration of a property in use; null for any other, and for one with too long a value.
   * @param nameToken the name's token
   * @throws WorkSpent
   */
  declaration(nameToken: CssToken, tokens: readonly CssToken[]): Declaration | null {
    const name = ALIASES.get(nameToken.value) ?? nameToken.value
    const isCustom = name.startsWith('--')
    if (!isCustom && !PROPERTIES.has(name)) return null
    const { value: own, important } = withoutImportant(tokens)
    const value = meaningOf(own)
    if (value === null || value.length > VALUE_MAX) return null
    if (!isCustom && !hasVariable(value) && !this.isValid(name, value)) return null
    return { name, value, important }
  }
}

interface Validity {
  valid: boolean
  /** Work steps css-tree needed. */
  steps: number
}

function validity(name: string, value: string): Validity {
  if (WIDE.test(value)) return { valid: true, steps: 0 }
  if (/^[+-]?[\d.]+$/.test(value) && UNITLESS.test(name)) return { valid: true, steps: 0 }
  // Background layers one by one: css-tree would try all orders of all layers.
  const layers = name === 'background' ? splitAtCommas(tokensOf(value)) : [tokensOf(value)]
  let steps = 0
  for (const layer of layers) {
    const match = matched(name, layer)
    steps += match.steps
    if (!match.valid) return { valid: false, steps }
  }
  return { valid: true, steps }
}

function matched(name: string, tokens: readonly CssToken[]): Validity {
  if (tokens.length > VALUE_TOKENS_MAX || partCount(tokens) > VALUE_PARTS_MAX) return { valid: false, steps: 0 }
  try {
    const { error, iterations } = lexer.matchProperty(name, tokens.map(({ value }) => value).join(''))
    return { valid: error === null, steps: iterations }
  } catch {
    return { valid: false, steps: VALIDATION_STEPS }
  }
}

/** Parts outside brackets: css-tree tries them in every order. */
function partCount(tokens: readonly CssToken[]): number {
  let depth = 0
  let count = 0
  for (const { type } of tokens) {
    if (depth === 0 && type !== TYPE.WhiteSpace) count++
    if (type === TYPE.Function || type === TYPE.LeftParenthesis) depth++
    else if (type === TYPE.RightParenthesis) depth--
  }
  return count
}

/** Evaluates a declaration in `@supports`. */
export function isSupported(name: string, tokens: readonly CssToken[]): boolean {
  const value = meaningOf(tokens)
  if (value === null || value.length > VALUE_MAX) return false
  if (name.startsWith('--')) return true
  if (value === '') return false
  return lexer.checkPropertyName(name) === undefined && (hasVariable(value) || validity(name, value).valid)
}

function withoutImportant(tokens: readonly CssToken[]): { value: CssToken[]; important: boolean } {
  const value = trimmed(tokens)
  if (value.at(-1)?.value !== 'important') return { value, important: false }
  const before = trimmed(value.slice(0, -1))
  if (before.at(-1)?.value !== '!') return { value, important: false }
  return { value: trimmed(before.slice(0, -1)), important: true }
}

/** The declarations of a style attribute. Invalid parts are skipped (CSS Style Attributes, 3). */
export function readDeclarations(tokens: readonly CssToken[], validator: Validator): Declaration[] {
  const found: Declaration[] = []
  for (let at = 0; at < tokens.length; ) {
    const end = skipUntil(tokens, at, tokens.length, ({ type }) => type === TYPE.Semicolon)
    const parts = declarationParts(trimmed(tokens.slice(at, end)))
    const declaration = parts && validator.declaration(parts.name, parts.value)
    if (declaration) found.push(declaration)
    at = end + 1
  }
  return found
}

/** Name and value of a declaration; null for anything else. */
export function declarationParts(tokens: readonly CssToken[]): { name: CssToken; value: readonly CssToken[] } | null {
  if (tokens[0]?.type !== TYPE.Ident) return null
  const colon = tokens[1]?.type === TYPE.WhiteSpace ? 2 : 1
  return tokens[colon]?.type === TYPE.Colon ? { name: tokens[0], value: tokens.slice(colon + 1) } : null
}

function hasVariable(value: string): boolean {
  return value.includes('var(')
}

/** Values of custom properties by name. */
export type Variables = ReadonlyMap<string, string>

/**
 * A value after substitution of variables (CSS Variables 1, 3).
 * @returns null when a variable is missing or cyclic, or the value becomes too long
 * @throws WorkSpent
 */
export function substituted(
  value: string,
  lookUp: (name: string, depth: number) => string | null,
  work: Work,
  depth = 0,
): string | null {
  if (!hasVariable(value)) return value
  if (depth > VARIABLE_DEPTH_MAX) return null
  let out = ''
  let last = 0
  for (let at = value.indexOf('var('); at >= 0; at = value.indexOf('var(', last)) {
    const end = closingOf(value, at + 4)
    work.take(1 + ((end - at) >> 4))
    const [, name, fallback] = /^\s*(--[^\s,]*)\s*(?:,(.*))?$/s.exec(value.slice(at + 4, end)) ?? []
    if (name === undefined) return null
    const filled =
      lookUp(name, depth + 1) ?? (fallback === undefined ? null : substituted(fallback, lookUp, work, depth + 1))
    if (filled === null) return null
    out += value.slice(last, at) + filled.trim()
    if (out.length > VALUE_MAX) return null
    last = end + 1
  }
  return (out + value.slice(last)).trim()
}

function closingOf(value: string, from: number): number {
  let depth = 0
  for (let at = from; at < value.length; at++) {
    if (value[at] === '(') depth++
    else if (value[at] === ')' && --depth < 0) return at
  }
  return value.length
}

/**
 * The variables of an element, inherited ones included; the same map when it declares none.
 * @throws WorkSpent
 */
export function variablesOf(declared: Variables, outer: Variables, most: number, work: Work): Variables {
  if (declared.size === 0) return outer
  work.take(4 * (declared.size + outer.size))
  const resolved = new Map<string, string | null>()
  const open = new Set<string>()
  const lookUp = (name: string, depth: number): string | null => {
    const known = resolved.get(name)
    if (known !== undefined) return known
    const value = declared.get(name)
    if (value === undefined) return outer.get(name) ?? null
    if (WIDE.test(value)) return value === 'initial' ? null : (outer.get(name) ?? null)
    if (open.has(name)) return null
    open.add(name)
    const filled = substituted(value, lookUp, work, depth)
    open.delete(name)
    resolved.set(name, filled)
    return filled
  }
  const all = new Map(outer)
  for (const name of declared.keys()) {
    const value = lookUp(name, 0)
    if (value === null) all.delete(name)
    else if (all.size < most || all.has(name)) all.set(name, value)
  }
  return all
}
