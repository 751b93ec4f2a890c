// Lengths of style sheets in pixels, calculated ones included.

/** Longest length value that is parsed, in characters. */
const LENGTH_MAX = 200

/** Pixels of a unit; viewport units assume a wide screen. */
const UNITS = new Map<string, number>(
  Object.entries({
    ...{ '': 1, px: 1, pt: 4 / 3, in: 96, cm: 37.8, mm: 3.78, q: 0.945, pc: 16, rem: 16, rlh: 20 },
    ...{ vw: 12, vh: 8, vi: 12, vb: 8, vmin: 8, vmax: 12, svw: 12, svh: 8, lvw: 12, lvh: 8, dvw: 12, dvh: 8 },
  }),
)
/** Units relative to the font size. */
const RELATIVE = new Map<string, number>(
  Object.entries({ em: 1, '%': 0.01, ex: 0.5, ch: 0.5, cap: 0.7, ic: 1, lh: 1.2 }),
)

const SIMPLE = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?)\s?([a-z]*|%)$/
const PIECE = /\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?(?:%|[a-z]+)?|[a-z-]*\(|[-+*/),])/y

/** @param em what one em is, and 100 % @returns null when it cannot be determined */
export function pixelsOf(text: string, em: number): number | null {
  if (text.length > LENGTH_MAX) return null
  const simple = SIMPLE.exec(text)
  if (simple !== null) return pixels(simple[1]!, simple[2]!, em)
  return /^(?:-webkit-)?(?:calc|min|max|clamp)\(/.test(text) ? new Calculation(text, em).result() : null
}

function pixels(amount: string, unit: string, em: number): number | null {
  const relative = RELATIVE.get(unit)
  const factor = relative === undefined ? UNITS.get(unit) : relative * em
  return factor === undefined ? null : Number(amount) * factor
}

/** A calculation of CSS Values 4, 10; lengths and plain numbers are not distinguished. */
class Calculation {
  readonly #text: string
  readonly #em: number
  #at = 0

  constructor(text: string, em: number) {
    this.#text = text
    this.#em = em
  }

  result(): number | null {
    const value = this.#factor()
    return this.#at >= this.#text.trimEnd().length && Number.isFinite(value) ? value : null
  }

  #sum(): number {
    let value = this.#product()
    for (let sign = this.#peek(); /^[-+]/.test(sign); sign = this.#peek()) {
      // "1px -1px" is read as a difference: a sign behind a value is an operator.
      if (sign === '+' || sign === '-') this.#take()
      const next = this.#product()
      value += sign === '-' ? -next : next
    }
    return value
  }

  #product(): number {
    let value = this.#factor()
    for (let sign = this.#peek(); sign === '*' || sign === '/'; sign = this.#peek()) {
      this.#take()
      const next = this.#factor()
      value = sign === '*' ? value * next : value / next
    }
    return value
  }

  #factor(): number {
    const piece = this.#take()
    if (piece.endsWith('(')) return this.#call(piece)
    const simple = SIMPLE.exec(piece)
    return simple === null ? Number.NaN : (pixels(simple[1]!, simple[2]!, this.#em) ?? Number.NaN)
  }

  #call(name: string): number {
    const values = [this.#sum()]
    for (; this.#peek() === ','; values.push(this.#sum())) this.#take()
    // At the end of the text, brackets are closed (CSS Syntax 3, 5.4.9).
    if (this.#peek() === ')') this.#take()
    if (name === 'min(') return Math.min(...values)
    if (name === 'max(') return Math.max(...values)
    if (name === 'clamp(') return Math.max(values[0]!, Math.min(values[1] ?? Number.NaN, values[2] ?? Number.NaN))
    return values.length === 1 && /^(?:(?:-webkit-)?calc)?\($/.test(name) ? values[0]! : Number.NaN
  }

  #peek(): string {
    PIECE.lastIndex = this.#at
    return PIECE.exec(this.#text)?.[1] ?? ''
  }

  #take(): string {
    const piece = this.#peek()
    this.#at = piece === '' ? this.#text.length : PIECE.lastIndex
    return piece
  }
}
