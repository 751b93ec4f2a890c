// Lexer and parser of the query language (docs/design/mailbox.md §4): text to a tree of terms.

import { ProductError } from '../../base/errors.ts'
import { readField, words } from './fields.ts'
import { allOf, anyOf, isEmpty, type Term } from './terms.ts'

/** A token of a query. `quoted` text has no operators: a star or minus in it is literal. */
type QueryToken =
  | { kind: 'open' | 'close' | 'or' | 'not' }
  | { kind: 'text'; field: string | null; value: string; quoted: boolean }

const SPACE = /\s/
// A field is a name directly followed by a colon; what follows may be quoted.
const FIELD = /([A-Za-z][A-Za-z_-]*):/y
const WORD_END = /[\s()"]/
// A minus on its own is a dash.
const NEGATES = /^-[^\s-]/

/** Yields the tokens from left to right. An unclosed quote ends with the text. */
function* queryTokens(text: string): Generator<QueryToken> {
  let at = 0
  while (at < text.length) {
    const char = text[at]!
    if (SPACE.test(char)) at++
    else if (char === '(' || char === ')') {
      yield { kind: char === '(' ? 'open' : 'close' }
      at++
    } else if (char === '-') {
      if (NEGATES.test(text.slice(at, at + 2))) yield { kind: 'not' }
      at++
    } else {
      const { token, end } = readText(text, at)
      if (token) yield token
      at = end
    }
  }
}

function readText(text: string, start: number): { token: QueryToken | null; end: number } {
  FIELD.lastIndex = start
  const name = FIELD.exec(text)?.[1]
  const field = name === undefined ? null : name.toLowerCase()
  const from = name === undefined ? start : FIELD.lastIndex
  if (text[from] === '"') {
    const close = text.indexOf('"', from + 1)
    const end = close < 0 ? text.length : close
    return { token: { kind: 'text', field, value: text.slice(from + 1, end), quoted: true }, end: end + 1 }
  }
  let end = from
  while (end < text.length && !WORD_END.test(text[end]!)) end++
  const value = text.slice(from, end)
  const word: QueryToken = { kind: 'text', field, value, quoted: false }
  return { token: field === null ? readWord(word) : word, end }
}

// Operators are upper-case, so that "or" can be searched for. AND is implied between terms and therefore skipped.
function readWord(word: Extract<QueryToken, { kind: 'text' }>): QueryToken | null {
  if (word.value === 'OR') return { kind: 'or' }
  if (word.value === 'NOT') return { kind: 'not' }
  return word.value === 'AND' ? null : word
}

/** Limits of a query: characters (code points), terms, and nesting depth of groups. */
export const QUERY_CHARS = 512
export const QUERY_TERMS = 32
export const QUERY_DEPTH = 5

/**
 * Parses a query. Adjacent terms must all match; OR has lower precedence. Terms without a letter or digit are ignored. Invalid syntax
 * is treated as text.
 * @param now ms; newer_than: and older_than: are relative to it
 * @throws ProductError invalid_parameter for a query that exceeds a limit
 */
export function readQuery(text: string, now: number): Term {
  // Code points are counted only if the number of code units exceeds the limit.
  if (text.length > QUERY_CHARS && [...text].length > QUERY_CHARS) {
    throw limitExceeded(`A search has at most ${QUERY_CHARS} characters.`)
  }
  return new QueryReader([...queryTokens(text)], now).read()
}

function limitExceeded(message: string): ProductError {
  return new ProductError('invalid_parameter', message, { param: 'q' })
}

class QueryReader {
  readonly #tokens: readonly QueryToken[]
  readonly #now: number
  #at = 0
  #terms = 0

  constructor(tokens: readonly QueryToken[], now: number) {
    this.#tokens = tokens
    this.#now = now
  }

  read(): Term {
    const groups: Term[] = []
    // Surplus closing parentheses are ignored.
    while (this.#at < this.#tokens.length) {
      const group = this.#group(0)
      if (!isEmpty(group)) groups.push(group)
    }
    return allOf(groups)
  }

  /** Alternatives up to and including the closing parenthesis. */
  #group(depth: number): Term {
    if (depth > QUERY_DEPTH) throw limitExceeded(`Groups of a search can be nested at most ${QUERY_DEPTH} levels deep.`)
    const alternatives: Term[] = []
    let conjunction: Term[] = []
    const finish = () => {
      if (conjunction.length > 0) alternatives.push(allOf(conjunction))
      conjunction = []
    }
    for (let token = this.#next(); token !== undefined && token.kind !== 'close'; token = this.#next()) {
      if (token.kind === 'or') finish()
      else {
        const term = this.#negatable(token, depth)
        if (!isEmpty(term)) conjunction.push(term)
      }
    }
    finish()
    return alternatives.length === 0 ? allOf([]) : anyOf(alternatives)
  }

  #negatable(first: QueryToken, depth: number): Term {
    let token: QueryToken | undefined = first
    let negated = false
    for (; token?.kind === 'not'; token = this.#peek() ? this.#next() : undefined) negated = !negated
    if (token === undefined) return allOf([])
    const term = this.#primary(token, depth)
    return negated && !isEmpty(term) ? { kind: 'not', of: term } : term
  }

  #primary(token: QueryToken, depth: number): Term {
    if (token.kind === 'open') return this.#group(depth + 1)
    if (token.kind !== 'text') return allOf([])
    const term = this.#text(token)
    if (!isEmpty(term) && ++this.#terms > QUERY_TERMS) throw limitExceeded(`A search has at most ${QUERY_TERMS} terms.`)
    return term
  }

  #text({ field, value, quoted }: Extract<QueryToken, { kind: 'text' }>): Term {
    const written = { text: value, quoted }
    if (field === null) return words('any', written) ?? allOf([])
    const plain = { text: `${field}:${value}`, quoted }
    return readField(field, written, this.#now) ?? words('any', plain) ?? allOf([])
  }

  /** The next token if it can follow a negation: an OR or a closing parenthesis ends the negation. */
  #peek(): QueryToken | undefined {
    const token = this.#tokens[this.#at]
    return token?.kind === 'or' || token?.kind === 'close' ? undefined : token
  }

  #next(): QueryToken | undefined {
    return this.#tokens[this.#at++]
  }
}
