// Evaluates @media and @supports conditions for a reader with a wide, light screen.

import { pixelsOf } from '../lengths.ts'
import { type CssToken, skipUntil, splitAtCommas, TYPE, trimmed } from './tokens.ts'
import { isSupported } from './values.ts'

/** Nesting depth of conditions; deeper ones evaluate to unknown. */
const DEPTH_MAX = 16
/** Tokens of a condition; longer ones evaluate to unknown. */
export const CONDITION_MAX = 500

/** Null for "unknown" (Media Queries 4 §3.1). */
type Truth = boolean | null

/** The assumed screen and preferences of the user. */
const WIDTH_PX = 1280
const HEIGHT_PX = 800
const QUANTITIES = new Map<string, number>([
  ['width', WIDTH_PX],
  ['device-width', WIDTH_PX],
  ['height', HEIGHT_PX],
  ['device-height', HEIGHT_PX],
  ['aspect-ratio', WIDTH_PX / HEIGHT_PX],
  ['device-aspect-ratio', WIDTH_PX / HEIGHT_PX],
  ['resolution', 1],
  ['-webkit-device-pixel-ratio', 1],
  ['color', 8],
  ['color-index', 0],
  ['monochrome', 0],
  ['grid', 0],
])
const QUALITIES = new Map<string, string>([
  ['orientation', 'landscape'],
  ['prefers-color-scheme', 'light'],
  ['prefers-reduced-motion', 'no-preference'],
  ['prefers-reduced-transparency', 'no-preference'],
  ['prefers-reduced-data', 'no-preference'],
  ['prefers-contrast', 'no-preference'],
  ['forced-colors', 'none'],
  ['inverted-colors', 'none'],
  ['hover', 'hover'],
  ['any-hover', 'hover'],
  ['pointer', 'fine'],
  ['any-pointer', 'fine'],
  ['update', 'fast'],
  ['overflow-block', 'scroll'],
  ['overflow-inline', 'scroll'],
  ['color-gamut', 'srgb'],
  ['dynamic-range', 'standard'],
  ['video-dynamic-range', 'standard'],
  ['display-mode', 'browser'],
  ['scripting', 'none'],
])
const ABSENT = new Set(['none', 'no-preference'])

export function isForScreen(prelude: readonly CssToken[]): boolean {
  const queries = splitAtCommas(prelude)
  return queries.some((query) => query.length <= CONDITION_MAX && isQueryTrue(query, queries.length === 1))
}

function isQueryTrue(query: readonly CssToken[], isAlone: boolean): boolean {
  const tokens = trimmed(query)
  if (tokens.length === 0) return isAlone
  const words = tokens.filter(({ type }) => type !== TYPE.WhiteSpace)
  const modifier = words[0]!.type === TYPE.Ident && /^(?:not|only)$/.test(words[0]!.value) ? words[0]!.value : null
  const type = words[modifier === null ? 0 : 1]
  if (type?.type !== TYPE.Ident || (type.value === 'not' && modifier === null)) {
    return new ConditionReader(tokens, mediaFeature).result() === true
  }
  const fits = type.value === 'all' || type.value === 'screen'
  const rest = trimmed(tokens.slice(tokens.indexOf(type) + 1))
  if (rest.length > 0 && rest[0]!.value !== 'and') return false
  const condition = rest.length === 0 ? true : new ConditionReader(rest.slice(1), mediaFeature).result()
  const whole = fits ? condition : false
  return modifier === 'not' ? whole === false : whole === true
}

export function isSupportedCondition(prelude: readonly CssToken[]): boolean {
  return prelude.length <= CONDITION_MAX && new ConditionReader(trimmed(prelude), supportedFeature).result() === true
}

type Leaf = (tokens: readonly CssToken[], functionName: string) => Truth

/** Evaluates `not`, `and`, `or` and brackets; the leaf evaluator gets the tokens in the brackets, and the name of the function or "". */
class ConditionReader {
  readonly #tokens: readonly CssToken[]
  readonly #leaf: Leaf
  readonly #depth: number
  #at = 0

  constructor(tokens: readonly CssToken[], leaf: Leaf, depth = 0) {
    this.#tokens = tokens
    this.#leaf = leaf
    this.#depth = depth
  }

  result(): Truth {
    if (this.#depth > DEPTH_MAX) return null
    let truth = this.#term()
    for (;;) {
      const word = this.#next()
      if (word === undefined) return truth
      if (word.type !== TYPE.Ident || (word.value !== 'and' && word.value !== 'or')) return null
      const other = this.#term()
      truth = word.value === 'and' ? both(truth, other) : not(both(not(truth), not(other)))
    }
  }

  #term(): Truth {
    let isNegated = false
    let token = this.#next()
    for (; token?.type === TYPE.Ident && token.value === 'not'; token = this.#next()) isNegated = !isNegated
    if (token?.type !== TYPE.LeftParenthesis && token?.type !== TYPE.Function) return null
    const from = this.#at
    const isEnd = ({ type }: CssToken) => type === TYPE.RightParenthesis
    const end = skipUntil(this.#tokens, from, this.#tokens.length, isEnd)
    this.#at = end + 1
    const inner = trimmed(this.#tokens.slice(from, end))
    const truth = token.type === TYPE.Function ? this.#leaf(inner, token.value.slice(0, -1)) : this.#bracketed(inner)
    return isNegated ? not(truth) : truth
  }

  #bracketed(inner: readonly CssToken[]): Truth {
    const [first, second] = inner
    const isCondition =
      first?.type === TYPE.LeftParenthesis ||
      first?.type === TYPE.Function ||
      (first?.value === 'not' && second?.type !== TYPE.Colon)
    return isCondition ? new ConditionReader(inner, this.#leaf, this.#depth + 1).result() : this.#leaf(inner, '')
  }

  #next(): CssToken | undefined {
    while (this.#tokens[this.#at]?.type === TYPE.WhiteSpace) this.#at++
    return this.#tokens[this.#at++]
  }
}

function not(truth: Truth): Truth {
  return truth === null ? null : !truth
}

function both(one: Truth, other: Truth): Truth {
  if (one === false || other === false) return false
  return one === null || other === null ? null : true
}

/** `(name: value)`, `(min-name: value)`, `(name)`, `(name < value)`, `(value <= name < value)` */
function mediaFeature(tokens: readonly CssToken[], functionName: string): Truth {
  if (functionName !== '') return null
  const text = tokens.map(({ value }) => value).join('')
  const plain = /^(-webkit-)?(min-|max-)?([a-z-]+)\s*(?::\s*(.+))?$/.exec(text)
  if (plain !== null) {
    const name = `${plain[1] ?? ''}${plain[3]}`
    return plain[4] === undefined ? isPresent(name) : compared(name, plain[2] ?? '', plain[4])
  }
  const range = text.split(/\s*([<>]=?|=)\s*/)
  if (range.length !== 3 && range.length !== 5) return null
  const at = range.findIndex((part) => QUANTITIES.has(part.trim()))
  if (at < 0 || (range.length === 5 && at !== 2)) return null
  const quantity = QUANTITIES.get(range[at]!.trim())!
  let truth: Truth = true
  if (at > 0) truth = both(truth, ordered(amountOf(range[at - 2]!), range[at - 1]!, quantity))
  if (at < range.length - 1) truth = both(truth, ordered(quantity, range[at + 1]!, amountOf(range[at + 2]!)))
  return truth
}

function isPresent(name: string): Truth {
  const quantity = QUANTITIES.get(name)
  if (quantity !== undefined) return quantity !== 0
  const quality = QUALITIES.get(name)
  return quality === undefined ? null : !ABSENT.has(quality)
}

function compared(name: string, bound: string, value: string): Truth {
  const quality = QUALITIES.get(name)
  if (quality !== undefined) return bound === '' ? quality === value.trim() : null
  const quantity = QUANTITIES.get(name)
  if (quantity === undefined) return null
  return ordered(quantity, bound === 'min-' ? '>=' : bound === 'max-' ? '<=' : '=', amountOf(value))
}

/** The exact width is unknown: equality is false except for discrete features. */
function ordered(one: number | null, sign: string, other: number | null): Truth {
  if (one === null || other === null) return null
  if (sign === '=') return one === other && one <= 8
  if (sign.startsWith('<')) return sign === '<=' ? one <= other : one < other
  return sign === '>=' ? one >= other : one > other
}

function amountOf(text: string): number | null {
  const value = text.trim()
  const ratio = /^([\d.]{1,9})\s*\/\s*([\d.]{1,9})$/.exec(value)
  if (ratio !== null) return Number(ratio[1]) / Number(ratio[2])
  const resolution = /^([\d.]{1,9})(dppx|x|dpi|dpcm)$/.exec(value)
  if (resolution !== null) {
    return Number(resolution[1]) / (resolution[2] === 'dpi' ? 96 : resolution[2] === 'dpcm' ? 37.8 : 1)
  }
  return pixelsOf(value, 16)
}

function supportedFeature(tokens: readonly CssToken[], functionName: string): Truth {
  if (functionName === 'selector' || functionName === 'font-tech' || functionName === 'font-format') return true
  if (functionName !== '') return null
  const colon = tokens.findIndex(({ type }) => type === TYPE.Colon)
  const name = trimmed(tokens.slice(0, Math.max(colon, 0)))
  if (colon < 0 || name.length !== 1 || name[0]!.type !== TYPE.Ident) return null
  return isSupported(name[0]!.value, tokens.slice(colon + 1))
}
