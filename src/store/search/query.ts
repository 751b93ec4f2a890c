// The query language of decisions §10.4: text in, a tree of terms out.

import { ProductError } from '../../base/errors.ts'
import { readField, words } from './fields.ts'
import { type Piece, pieces } from './lexer.ts'
import { allOf, anyOf, isEmpty, type Term } from './terms.ts'

/** Bounds of a query: characters (code points), terms, and how deep groups may lie in one another. */
export const QUERY_CHARS = 512
export const QUERY_TERMS = 32
export const QUERY_DEPTH = 5

/**
 * Reads a query. Terms next to each other must all match; OR binds less tightly than that. Terms without a letter or digit ask
 * for nothing. Whatever makes no sense as syntax is text.
 * @param now ms, what newer_than: and older_than: count from
 * @throws ProductError invalid_parameter for a query out of bounds
 */
export function readQuery(text: string, now: number): Term {
  // Code points are counted only where code units leave it open.
  if (text.length > QUERY_CHARS && [...text].length > QUERY_CHARS) {
    throw beyond(`A search has at most ${QUERY_CHARS} characters.`)
  }
  return new QueryReader([...pieces(text)], now).read()
}

function beyond(message: string): ProductError {
  return new ProductError('invalid_parameter', message, { param: 'q' })
}

class QueryReader {
  readonly #pieces: readonly Piece[]
  readonly #now: number
  #at = 0
  #terms = 0

  constructor(pieces: readonly Piece[], now: number) {
    this.#pieces = pieces
    this.#now = now
  }

  read(): Term {
    const found: Term[] = []
    // A closing parenthesis too many ends nothing.
    while (this.#at < this.#pieces.length) {
      const group = this.#group(0)
      if (!isEmpty(group)) found.push(group)
    }
    return allOf(found)
  }

  /** Alternatives up to the parenthesis that closes them, which is taken too. */
  #group(depth: number): Term {
    if (depth > QUERY_DEPTH) throw beyond(`Groups of a search lie at most ${QUERY_DEPTH} deep in one another.`)
    const alternatives: Term[] = []
    let together: Term[] = []
    const finish = () => {
      if (together.length > 0) alternatives.push(allOf(together))
      together = []
    }
    for (let piece = this.#next(); piece !== undefined && piece.kind !== 'close'; piece = this.#next()) {
      if (piece.kind === 'or') finish()
      else {
        const term = this.#one(piece, depth)
        if (!isEmpty(term)) together.push(term)
      }
    }
    finish()
    return alternatives.length === 0 ? allOf([]) : anyOf(alternatives)
  }

  #one(first: Piece, depth: number): Term {
    let piece: Piece | undefined = first
    let negated = false
    for (; piece?.kind === 'not'; piece = this.#peek() ? this.#next() : undefined) negated = !negated
    if (piece === undefined) return allOf([])
    const term = this.#plain(piece, depth)
    return negated && !isEmpty(term) ? { kind: 'not', of: term } : term
  }

  #plain(piece: Piece, depth: number): Term {
    if (piece.kind === 'open') return this.#group(depth + 1)
    if (piece.kind !== 'text') return allOf([])
    const term = this.#text(piece)
    if (!isEmpty(term) && ++this.#terms > QUERY_TERMS) throw beyond(`A search has at most ${QUERY_TERMS} terms.`)
    return term
  }

  #text({ field, value, quoted }: Extract<Piece, { kind: 'text' }>): Term {
    const written = { text: value, quoted }
    if (field === null) return words('any', written) ?? allOf([])
    const plain = { text: `${field}:${value}`, quoted }
    return readField(field, written, this.#now) ?? words('any', plain) ?? allOf([])
  }

  /** The next piece when it may follow a negation: an OR or a closing parenthesis after a minus ends the negation. */
  #peek(): Piece | undefined {
    const piece = this.#pieces[this.#at]
    return piece?.kind === 'or' || piece?.kind === 'close' ? undefined : piece
  }

  #next(): Piece | undefined {
    return this.#pieces[this.#at++]
  }
}
