// Cuts the text of a search into its pieces.

/** A piece of a search. `text` keeps whether it stood in quotes, where a star or a minus means nothing. */
export type Piece =
  | { kind: 'open' | 'close' | 'or' | 'not' }
  | { kind: 'text'; field: string | null; value: string; quoted: boolean }

const SPACE = /\s/
// A field is a name directly followed by a colon; what follows may be quoted.
const FIELD = /([A-Za-z][A-Za-z_-]*):/y
const WORD_END = /[\s()"]/
// A minus that stands alone is a dash.
const NEGATES = /^-[^\s-]/

/** Reads the pieces from left to right. Quotes that are not closed end with the text. */
export function* pieces(text: string): Generator<Piece> {
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
      const { piece, end } = readText(text, at)
      if (piece) yield piece
      at = end
    }
  }
}

function readText(text: string, start: number): { piece: Piece | null; end: number } {
  FIELD.lastIndex = start
  const name = FIELD.exec(text)?.[1]
  const field = name === undefined ? null : name.toLowerCase()
  const from = name === undefined ? start : FIELD.lastIndex
  if (text[from] === '"') {
    const close = text.indexOf('"', from + 1)
    const end = close < 0 ? text.length : close
    return { piece: { kind: 'text', field, value: text.slice(from + 1, end), quoted: true }, end: end + 1 }
  }
  let end = from
  while (end < text.length && !WORD_END.test(text[end]!)) end++
  const value = text.slice(from, end)
  const word: Piece = { kind: 'text', field, value, quoted: false }
  return { piece: field === null ? readWord(word) : word, end }
}

// Operators are written in capitals, so that "or" can be searched for. AND is what stands between all terms anyway.
function readWord(word: Extract<Piece, { kind: 'text' }>): Piece | null {
  if (word.value === 'OR') return { kind: 'or' }
  if (word.value === 'NOT') return { kind: 'not' }
  return word.value === 'AND' ? null : word
}
