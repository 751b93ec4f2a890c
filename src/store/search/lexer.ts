// Lexer of the query language.

/** A token of a query. `quoted` text has no operators: a star or minus in it is literal. */
export type QueryToken =
  | { kind: 'open' | 'close' | 'or' | 'not' }
  | { kind: 'text'; field: string | null; value: string; quoted: boolean }

const SPACE = /\s/
// A field is a name directly followed by a colon; what follows may be quoted.
const FIELD = /([A-Za-z][A-Za-z_-]*):/y
const WORD_END = /[\s()"]/
// A minus on its own is a dash.
const NEGATES = /^-[^\s-]/

/** Yields the tokens from left to right. An unclosed quote ends with the text. */
export function* queryTokens(text: string): Generator<QueryToken> {
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
