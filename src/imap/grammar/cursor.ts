// A position in the bytes of one command: the rules of RFC 9051 §9 are read through it, one function per rule, each loop consuming bytes.

/** A line of a command up to a literal, and that literal; the last piece has none. */
export interface CommandPiece {
  /** Bytes of the line without the header of the literal and without its line end. */
  line: Buffer
  literal: Buffer | null
  /** The literal was sent as literal8 (RFC 3516). */
  isBinary: boolean
}

/** The command does not follow the grammar: answered with BAD. */
export class ImapSyntaxError extends Error {}

const SP = 0x20
export const DQUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = 0x28
const ZERO = 0x30
const NINE = 0x39
/** Largest number64 (RFC 9051 §9): 63 bits. */
const MAX_64 = 2n ** 63n - 1n
const MAX_32 = 2 ** 32 - 1
// A number of 20 digits is larger than any allowed.
const MAX_DIGITS = 19

/** Characters of atoms: any but atom-specials (RFC 9051 §9). */
const ATOM = bytesOf((byte) => byte > SP && byte < 0x7f && !'(){%*"\\]'.includes(String.fromCharCode(byte)))
const ASTRING = bytesOf((byte) => ATOM[byte] === 1 || byte === 0x5d)
/** list-char: atoms and the wildcards, and resp-specials. */
const LIST_CHAR = bytesOf((byte) => ASTRING[byte] === 1 || byte === 0x25 || byte === 0x2a)
const BASE64 = bytesOf((byte) => /[A-Za-z0-9+/=]/.test(String.fromCharCode(byte)))
const TAG = bytesOf((byte) => ASTRING[byte] === 1 && byte !== 0x2b)

function bytesOf(includes: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (includes(byte) ? 1 : 0))
}

export class Cursor {
  readonly #pieces: readonly CommandPiece[]
  readonly #hasContent: boolean
  #piece = 0
  #line: Buffer
  #at = 0

  /** @param hasContent a message literal, which is not part of the pieces, follows the last one */
  constructor(pieces: readonly CommandPiece[], hasContent = false) {
    this.#pieces = pieces
    this.#hasContent = hasContent
    this.#line = pieces[0]!.line
  }

  /** At the end of the command. */
  get isAtEnd(): boolean {
    return this.#at === this.#line.length && this.#piece === this.#pieces.length - 1 && !this.#hasContent
  }

  /** At a message literal that is not part of the pieces. */
  get isAtContent(): boolean {
    return this.#at === this.#line.length && this.#piece === this.#pieces.length - 1 && this.#hasContent
  }

  /** At a literal. */
  get isAtLiteral(): boolean {
    return this.#at === this.#line.length && this.#piece < this.#pieces.length - 1
  }

  /** The next byte of the line; -1 at its end. */
  peek(): number {
    return this.#at < this.#line.length ? this.#line[this.#at]! : -1
  }

  /** Whether the next byte is this ASCII character. */
  isAt(character: string): boolean {
    return this.peek() === character.charCodeAt(0)
  }

  /** Consumes this ASCII character if it is next. */
  skip(character: string): boolean {
    if (!this.isAt(character)) return false
    this.#at++
    return true
  }

  /** Whether one of these ASCII texts is next, in any letter case. */
  isAtText(...texts: string[]): boolean {
    const next = (size: number) => this.#line.toString('latin1', this.#at, this.#at + size).toUpperCase()
    return texts.some((text) => next(text.length) === text)
  }

  /** Consumes this ASCII text if it is next. */
  skipText(text: string): boolean {
    const end = this.#at + text.length
    if (end > this.#line.length || this.#line.toString('latin1', this.#at, end) !== text) return false
    this.#at = end
    return true
  }

  /** @throws ImapSyntaxError unless this ASCII character is next */
  expect(character: string): void {
    if (!this.skip(character)) throw new ImapSyntaxError(`Expected ${character === ' ' ? 'a space' : character}.`)
  }

  space(): void {
    this.expect(' ')
  }

  /** @throws ImapSyntaxError unless the command ends here */
  end(): void {
    // Some clients send a space before the line end.
    while (this.#piece === this.#pieces.length - 1 && this.skip(' ')) {}
    if (!this.isAtEnd) throw new ImapSyntaxError('Unexpected characters after the command.')
  }

  /** Consumes bytes while `set` has a 1 for them. */
  #run(set: Uint8Array): string {
    const from = this.#at
    while (this.#at < this.#line.length && set[this.#line[this.#at]!] === 1) this.#at++
    return this.#line.toString('latin1', from, this.#at)
  }

  #some(set: Uint8Array, what: string): string {
    const text = this.#run(set)
    if (text === '') throw new ImapSyntaxError(`Expected ${what}.`)
    return text
  }

  tag(): string {
    return this.#some(TAG, 'a tag')
  }

  atom(): string {
    return this.#some(ATOM, 'an atom')
  }

  /** An atom in upper case: names of commands and keywords of the grammar. */
  word(): string {
    return this.atom().toUpperCase()
  }

  /** Consumes this word (in upper case) when it is next and ends there. */
  skipWord(word: string): boolean {
    const end = this.#at + word.length
    if (end > this.#line.length || this.#line.toString('latin1', this.#at, end).toUpperCase() !== word) return false
    if (end < this.#line.length && ATOM[this.#line[end]!] === 1) return false
    this.#at = end
    return true
  }

  /** ASTRING-CHARs, at least one, without a quoted or literal form. */
  astringAtom(): string {
    return this.#some(ASTRING, 'a string')
  }

  /** An atom that may contain bytes above 127: names of mailboxes as some clients send them. */
  utf8Atom(set: 'astring' | 'list'): Buffer {
    const known = set === 'list' ? LIST_CHAR : ASTRING
    const from = this.#at
    while (this.#at < this.#line.length && (known[this.#line[this.#at]!] === 1 || this.#line[this.#at]! > 0x7f))
      this.#at++
    if (this.#at === from) throw new ImapSyntaxError('Expected a name.')
    return this.#line.subarray(from, this.#at)
  }

  get isAtDigit(): boolean {
    const byte = this.peek()
    return byte >= ZERO && byte <= NINE
  }

  #digits(): string {
    const from = this.#at
    while (this.isAtDigit) this.#at++
    if (this.#at === from) throw new ImapSyntaxError('Expected a number.')
    return this.#line.toString('latin1', from, this.#at)
  }

  /** `number`: 32 bits. */
  number(): number {
    const digits = this.#digits()
    const value = digits.length > MAX_DIGITS ? Number.POSITIVE_INFINITY : Number(digits)
    if (value > MAX_32) throw new ImapSyntaxError('The number is too large.')
    return value
  }

  /** `nz-number`: 32 bits, not 0. */
  nzNumber(): number {
    const value = this.number()
    if (value === 0) throw new ImapSyntaxError('The number must not be 0.')
    return value
  }

  /** `number64`: 63 bits. Values above 2^53 are rounded: no size or modification number here is as large. */
  number64(): number {
    const digits = this.#digits()
    if (digits.length > MAX_DIGITS || BigInt(digits) > MAX_64) throw new ImapSyntaxError('The number is too large.')
    return Number(digits)
  }

  /** `base64`: its characters alone are checked. */
  base64(): string {
    return this.#run(BASE64)
  }

  /** A quoted string. @throws ImapSyntaxError when it does not end, or escapes another character than `"` and `\` */
  quoted(): Buffer {
    this.expect('"')
    const from = this.#at
    let escaped = false
    while (this.#at < this.#line.length && this.#line[this.#at] !== DQUOTE) {
      if (this.#line[this.#at] === BACKSLASH) {
        escaped = true
        this.#at++
        const next = this.peek()
        if (next !== DQUOTE && next !== BACKSLASH) throw new ImapSyntaxError('Only " and \\ are escaped.')
      }
      this.#at++
    }
    const raw = this.#line.subarray(from, this.#at)
    this.expect('"')
    return escaped ? withoutEscapes(raw) : raw
  }

  /** A literal. @throws ImapSyntaxError unless one is next */
  literal(options: { binary?: boolean } = {}): Buffer {
    if (!this.isAtLiteral) throw new ImapSyntaxError('Expected a string.')
    const { literal, isBinary } = this.#pieces[this.#piece]!
    if (isBinary && !options.binary) throw new ImapSyntaxError('A binary literal is not allowed here.')
    this.#piece++
    this.#line = this.#pieces[this.#piece]!.line
    this.#at = 0
    return literal!
  }

  /** Items within parentheses, separated by single spaces. @throws ImapSyntaxError above `most` items */
  list<T>(item: () => T, { most, least = 1 }: { most: number; least?: number }): T[] {
    const items: T[] = []
    this.expect('(')
    if (least === 0 && this.skip(')')) return items
    do {
      if (items.length === most) throw new ImapSyntaxError('The list is too long.')
      items.push(item())
    } while (this.skip(' '))
    this.expect(')')
    return items
  }

  get isAtList(): boolean {
    return this.peek() === OPEN
  }
}

function withoutEscapes(raw: Buffer): Buffer {
  const plain = Buffer.alloc(raw.length)
  let size = 0
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] === BACKSLASH) at++
    plain[size++] = raw[at]!
  }
  return plain.subarray(0, size)
}
