// CSS text as tokens (CSS Syntax 3), with escapes decoded and comments left out.

import { ident, tokenize, tokenTypes } from 'css-tree/dist/csstree.esm'

export const TYPE = tokenTypes

export interface CssToken {
  type: number
  /** Source text. */
  raw: string
  /**
   * Normalised text: escapes decoded, in lower case except for custom properties. A function ends with `(`. The content of strings and
   * URLs is left out.
   */
  value: string
}

export const SPACE: CssToken = { type: TYPE.WhiteSpace, raw: ' ', value: ' ' }

/** Stands for a comment where tokens are written again: without it two of them could become one. */
export const GAP: CssToken = { type: TYPE.Comment, raw: '/**/', value: '' }

/** Tokens of the text; comments are left out, or replaced by `comment`. */
export function tokensOf(css: string, comment: CssToken | null = null): CssToken[] {
  const tokens: CssToken[] = []
  tokenize(css, (type, start, end) => {
    if (type === TYPE.Comment) {
      if (comment !== null) tokens.push(comment)
      return
    }
    if (type === TYPE.WhiteSpace) tokens.push(SPACE)
    else {
      const raw = css.slice(start, end)
      tokens.push({ type, raw, value: meaning(type, raw) })
    }
  })
  return tokens
}

function meaning(type: number, raw: string): string {
  switch (type) {
    case TYPE.Ident:
    case TYPE.AtKeyword:
    case TYPE.Function:
      return decoded(raw)
    case TYPE.Hash:
      return `#${decoded(raw.slice(1))}`
    case TYPE.String:
      return '""'
    case TYPE.Url:
      return 'url()'
    default:
      return decoded(raw)
  }
}

function decoded(raw: string): string {
  const text = raw.includes('\\') ? ident.decode(raw) : raw
  return text.startsWith('--') ? text : text.toLowerCase()
}

const CLOSED_BY = new Map<number, number>([
  [TYPE.LeftParenthesis, TYPE.RightParenthesis],
  [TYPE.Function, TYPE.RightParenthesis],
  [TYPE.LeftSquareBracket, TYPE.RightSquareBracket],
  [TYPE.LeftCurlyBracket, TYPE.RightCurlyBracket],
])

/**
 * Skips from `at`, treating blocks as units.
 * @returns index of the first token outside them for which `isEnd` holds, or of an unmatched closing brace; else `to`
 */
export function skipUntil(
  tokens: readonly CssToken[],
  at: number,
  to: number,
  isEnd: (token: CssToken) => boolean,
): number {
  const open: number[] = []
  for (let index = at; index < to; index++) {
    const token = tokens[index]!
    if (open.length === 0 && (isEnd(token) || token.type === TYPE.RightCurlyBracket)) return index
    const close = CLOSED_BY.get(token.type)
    if (close !== undefined) open.push(close)
    else if (token.type === open.at(-1)) open.pop()
  }
  return to
}

/** Parts separated by commas outside blocks. */
export function splitAtCommas(tokens: readonly CssToken[]): CssToken[][] {
  const parts: CssToken[][] = []
  for (let at = 0; at <= tokens.length; ) {
    const end = skipUntil(tokens, at, tokens.length, ({ type }) => type === TYPE.Comma)
    parts.push(trimmed(tokens.slice(at, end)))
    at = end + 1
  }
  return parts
}

export function trimmed(tokens: readonly CssToken[]): CssToken[] {
  let from = 0
  let to = tokens.length
  while (from < to && tokens[from]!.type === TYPE.WhiteSpace) from++
  while (to > from && tokens[to - 1]!.type === TYPE.WhiteSpace) to--
  return tokens.slice(from, to)
}

/** Normalised text of the tokens; null when a string or URL is not closed. */
export function meaningOf(tokens: readonly CssToken[]): string | null {
  let text = ''
  for (const { type, value } of trimmed(tokens)) {
    if (type === TYPE.BadString || type === TYPE.BadUrl) return null
    if (value !== ' ' || !text.endsWith(' ')) text += value
  }
  return text
}
