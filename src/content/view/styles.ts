// Writes the styles of a message again, so that they load nothing, stay inside the frame and follow the theme of the reader.

import { string as cssString, url as cssUrl } from 'css-tree/dist/csstree.esm'
import { type CssToken, GAP, SPACE, skipUntil, TYPE, tokensOf, trimmed } from '../../html/css/tokens.ts'

/** Characters of all style sheets of a message, and of one style attribute. */
export const STYLE_SHEETS_MAX = 256 * 1024
export const STYLE_ATTRIBUTE_MAX = 8 * 1024
const NESTING_MAX = 16
/** Prefix of ids of the message, so that they never meet those of the page. */
export const ID_PREFIX = 'm-'

export type Theme = 'light' | 'dark'

/** Functions that load something, or run code in old browsers. */
const FORBIDDEN = new Set(
  'src( image( image-set( -webkit-image-set( cross-fade( -webkit-cross-fade( element( -moz-element( paint( expression('.split(
    ' ',
  ),
)
const FORBIDDEN_PROPERTIES = /^(?:behavior|-moz-binding|animation.*|-webkit-animation.*|src|-webkit-user-modify)$/
const COLORS = /^(?:color|background|background-color|background-image)$/
const NO_COLOR = /^(?:inherit|initial|unset|revert|transparent|none|currentcolor|windowtext|)$/
/** Pixels of viewport units: a height of the viewport would let the frame, which follows its content, grow without end. */
const VIEWPORT = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?)[sld]?v(w|h|i|b|min|max)$/
const VIEWPORT_PX: Readonly<Record<string, number>> = { w: 6, h: 8, i: 6, b: 8, min: 6, max: 8 }
const CLOSING = new Map<number, number>([
  [TYPE.Function, TYPE.RightParenthesis],
  [TYPE.LeftParenthesis, TYPE.RightParenthesis],
  [TYPE.LeftSquareBracket, TYPE.RightSquareBracket],
])
const UNWANTED = new Set<number>([
  ...[TYPE.BadString, TYPE.BadUrl, TYPE.AtKeyword, TYPE.Semicolon, TYPE.CDO, TYPE.CDC],
  ...[TYPE.LeftCurlyBracket, TYPE.RightCurlyBracket],
])

export interface StyleRewriterOptions {
  theme: Theme
  /** Address of a picture that styles name, in the document; null where it may not be loaded. */
  picture(url: string): string | null
}

export class StyleRewriter {
  /** A color or background is set. */
  hasColors = false
  /** Part of the sheets was too long or nested too deep. */
  isCut = false
  readonly #options: StyleRewriterOptions
  readonly #attributes = new Map<string, string>()
  #room = STYLE_SHEETS_MAX
  #tokens: CssToken[] = []

  constructor(options: StyleRewriterOptions) {
    this.#options = options
  }

  /** One style sheet, safe inside `<style>`. */
  sheet(css: string, media: string | null = null): string {
    if (css.length > this.#room) this.isCut = true
    const text = css.slice(0, this.#room)
    this.#room -= text.length
    this.#tokens = tokensOf(text, GAP)
    const rules = this.#rules(0, this.#tokens.length, 0)
    const condition = media === null ? null : this.#prelude(tokensOf(media.slice(0, 200), GAP))
    if (rules === '' || (media !== null && condition === null)) return ''
    // "</" would end the element; inside strings, where it may stand, the escape means the same.
    return (condition === null ? rules : `@media ${condition}{${rules}}`).replaceAll('</', '<\\/')
  }

  /** The declarations of a style attribute, unescaped. */
  attribute(css: string): string {
    if (css.length > STYLE_ATTRIBUTE_MAX) return ''
    const known = this.#attributes.get(css)
    if (known !== undefined) return known
    const tokens = tokensOf(css, GAP)
    const text = this.#declarations(tokens)
    this.#attributes.set(css, text)
    return text
  }

  #rules(from: number, to: number, depth: number): string {
    if (depth > NESTING_MAX) {
      this.isCut = true
      return ''
    }
    let text = ''
    for (let at = from; at < to; ) {
      const { type } = this.#tokens[at]!
      const isNoise = type === TYPE.WhiteSpace || type === TYPE.Comment || type === TYPE.CDO || type === TYPE.CDC
      if (isNoise || type === TYPE.RightCurlyBracket) {
        at++
        continue
      }
      const isAtRule = type === TYPE.AtKeyword
      const isEnd = (token: CssToken) =>
        token.type === TYPE.LeftCurlyBracket || (isAtRule && token.type === TYPE.Semicolon)
      const open = skipUntil(this.#tokens, at, to, isEnd)
      if (open >= to || this.#tokens[open]!.type !== TYPE.LeftCurlyBracket) {
        at = open + 1
        continue
      }
      const close = skipUntil(this.#tokens, open + 1, to, ({ type: each }) => each === TYPE.RightCurlyBracket)
      text += isAtRule ? this.#atRule(at, open, close, depth) : this.#rule(at, open, close)
      at = close + 1
    }
    return text
  }

  /** `@media`, `@supports` and `@layer` stay; `@import`, `@font-face`, `@keyframes` and unknown ones do not. */
  #atRule(at: number, open: number, close: number, depth: number): string {
    const name = this.#tokens[at]!.value
    if (name !== '@media' && name !== '@supports' && name !== '@layer') return ''
    const prelude = this.#prelude(this.#tokens.slice(at + 1, open))
    const rules = prelude === null ? '' : this.#rules(open + 1, close, depth + 1)
    return rules === '' ? '' : `${name} ${prelude}{${rules}}`
  }

  #rule(at: number, open: number, close: number): string {
    const selectors = this.#selectors(this.#tokens.slice(at, open))
    const declarations = selectors === null ? '' : this.#declarations(this.#tokens.slice(open + 1, close))
    return declarations === '' ? '' : `${selectors}{${declarations}}`
  }

  #selectors(tokens: readonly CssToken[]): string | null {
    if (!isWhole(tokens)) return null
    const written = tokens.map(({ type, raw }) => (type === TYPE.Hash ? `#${ID_PREFIX}${raw.slice(1)}` : raw))
    return written.join('').trim() || null
  }

  /** The condition of an at-rule; a preference of colors is answered for the theme, as browsers ask the device. */
  #prelude(tokens: readonly CssToken[]): string | null {
    if (!isWhole(tokens)) return null
    const text = tokens.map(({ raw, value, type }) => (type === TYPE.Ident ? value : raw)).join('')
    return text
      .replace(/\(\s*prefers-color-scheme\s*(?::\s*([a-z-]+)\s*)?\)/g, (_, scheme?: string) =>
        scheme === undefined || scheme === this.#options.theme ? '(min-width:0)' : '(max-width:0)',
      )
      .trim()
  }

  /** Nested rules are left out. */
  #declarations(tokens: readonly CssToken[]): string {
    const kept: string[] = []
    for (let at = 0; at < tokens.length; ) {
      const isEnd = ({ type }: CssToken) => type === TYPE.Semicolon || type === TYPE.LeftCurlyBracket
      const end = skipUntil(tokens, at, tokens.length, isEnd)
      const last = tokens[end]
      if (last?.type === TYPE.LeftCurlyBracket) {
        at = skipUntil(tokens, end + 1, tokens.length, ({ type }) => type === TYPE.RightCurlyBracket) + 1
        continue
      }
      const declaration = this.#declaration(
        trimmed(tokens.slice(at, end).map((token) => (token.type === TYPE.Comment ? SPACE : token))),
      )
      if (declaration !== null) kept.push(declaration)
      at = end + 1
    }
    return kept.join(';')
  }

  #declaration(tokens: readonly CssToken[]): string | null {
    const name = tokens[0]?.type === TYPE.Ident ? tokens[0].value : ''
    const colon = tokens.findIndex(({ type }) => type === TYPE.Colon)
    if (colon < 1 || !/^-{0,2}[a-z_][\w-]*$/i.test(name) || FORBIDDEN_PROPERTIES.test(name)) return null
    const value = this.#value(trimmed(tokens.slice(colon + 1)))
    if (value === null || value === '') return null
    if (name === 'position' && /fixed|sticky|var\(/i.test(value)) return null
    if (COLORS.test(name) && !NO_COLOR.test(value.toLowerCase().replace(/\s*!\s*important$/, ''))) this.hasColors = true
    return `${name}:${value}`
  }

  #value(tokens: readonly CssToken[]): string | null {
    if (!isWhole(tokens)) return null
    let text = ''
    for (let at = 0; at < tokens.length; at++) {
      const { type, raw, value } = tokens[at]!
      if (type === TYPE.Url || (type === TYPE.Function && value === 'url(')) {
        const end = type === TYPE.Url ? at : skipUntil(tokens, at + 1, tokens.length, isRightParenthesis)
        const url = type === TYPE.Url ? urlOf(raw) : stringOf(tokens.slice(at + 1, end))
        const own = url === null ? null : this.#options.picture(url)
        if (own === null) return null
        text += `url("${own.replace(/["\\\n\r\f]/g, '')}")`
        at = end
      } else if (type === TYPE.Function && FORBIDDEN.has(value)) return null
      else text += type === TYPE.Dimension ? inPixels(raw, value) : raw
    }
    return text
  }
}

const isRightParenthesis = ({ type }: CssToken) => type === TYPE.RightParenthesis

/** Brackets are balanced, strings are closed, and nothing ends what is around it. */
function isWhole(tokens: readonly CssToken[]): boolean {
  const open: number[] = []
  for (const { type, raw } of tokens) {
    if (UNWANTED.has(type) || isUnclosed(type, raw)) return false
    const close = CLOSING.get(type)
    if (close !== undefined) open.push(close)
    else if (type === TYPE.RightParenthesis || type === TYPE.RightSquareBracket) {
      if (open.pop() !== type) return false
    }
  }
  return open.length === 0
}

/** At the end of the text CSS closes strings and escapes by itself; what is written behind them would join them. */
function isUnclosed(type: number, raw: string): boolean {
  if (type === TYPE.String)
    return raw.length < 2 || raw.at(-1) !== raw[0] || /(?:^|[^\\])(?:\\\\)*\\$/.test(raw.slice(0, -1))
  return raw.endsWith('\\') || (type === TYPE.Url && !raw.endsWith(')'))
}

function urlOf(raw: string): string | null {
  return raw.length > 4096 ? null : cssUrl.decode(raw)
}

function stringOf(tokens: readonly CssToken[]): string | null {
  const [only, ...others] = trimmed(tokens)
  return only?.type === TYPE.String && others.length === 0 ? cssString.decode(only.raw) : null
}

function inPixels(raw: string, value: string): string {
  const match = VIEWPORT.exec(value)
  return match === null ? raw : `${Number(match[1]) * VIEWPORT_PX[match[2]!]!}px`
}
