// Parses structured header values such as Content-Type: the value and its parameters, with RFC 2231 and common mistakes.

import { Buffer } from 'node:buffer'
import { decodeCharset } from './charset.ts'

export interface StructuredValue {
  /** The text before the parameters, lower-case, without comments and white space. */
  value: string
  /** The same with its capitals. */
  written: string
  /** Parameters by lower-case name; RFC 2231 pieces are joined and decoded, encoded words are not. The first of a name counts. */
  parameters: Map<string, string>
  /** Parameters as written, in order: names with their capitals, RFC 2231 pieces apart; quotes and quoted pairs removed. */
  pairs: ParameterPair[]
}

/** Name and value of one parameter. */
export type ParameterPair = [name: string, value: string]

/** Parameters read from one field; more are ignored. */
export const PARAMETERS_MAX = 200

/** White space that ends a value because the next parameter follows without ";". */
const NEXT_PARAMETER = /\s+[\w!#$&+.^`|~-]{1,60}(?:\*\d{0,4}\*?)?\s*=(?!\?)/y

const NAME = /[\s;]*([^=;]*)(=?)\s*/y

/** Parses the text of a field (see fieldText). Linear time, never throws. */
export function parseStructured(text: string): StructuredValue {
  const scan = new ValueScan(text)
  const written = stripComments(scan.bare()).replace(/\s+/g, '')
  const parameters = new Map<string, string>()
  const pieces = new Map<string, Piece[]>()
  const pairs: ParameterPair[] = []
  for (let count = 0; count < PARAMETERS_MAX; count++) {
    const next = scan.parameter()
    if (!next) break
    if (next.name !== '') pairs.push([next.name, next.value])
    const name = next.name.toLowerCase()
    const extended = /^([^*]{1,60})\*(?:(\d{1,4})(\*?))?$/.exec(name)
    if (!extended) setFirst(parameters, name, next.value)
    else {
      const piece = { index: Number(extended[2] ?? 0), encoded: !extended[2] || extended[3] === '*', text: next.value }
      pieces.set(extended[1]!, [...(pieces.get(extended[1]!) ?? []), piece])
    }
  }
  // RFC 2231 §5: the extended form takes precedence over a plain one.
  for (const [name, list] of pieces) parameters.set(name, joinPieces(list))
  return { value: written.toLowerCase(), written, parameters, pairs }
}

/** One segment of a split or percent-encoded parameter (RFC 2231 §3 and §4). */
interface Piece {
  index: number
  encoded: boolean
  text: string
}

function setFirst(map: Map<string, string>, name: string, value: string): void {
  if (name !== '' && name.length <= 60 && !map.has(name)) map.set(name, value)
}

function joinPieces(pieces: Piece[]): string {
  let charset: string | null = null
  const bytes: Buffer[] = []
  for (const [at, piece] of pieces.toSorted((a, b) => a.index - b.index).entries()) {
    const mark: RegExpExecArray | null = piece.encoded ? markOf(piece.text, at, charset) : null
    if (mark) charset = mark[1]!
    const text = Buffer.from(mark ? piece.text.slice(mark[0].length) : piece.text)
    bytes.push(piece.encoded ? percentDecoded(text) : text)
  }
  return decodeCharset(Buffer.concat(bytes), charset)
}

/** The charset (and language) in front of the first piece; some mailers repeat it in front of each. */
function markOf(text: string, at: number, charset: string | null): RegExpExecArray | null {
  const mark = at === 0 ? /^([^']{0,60})'[^']{0,60}'/.exec(text) : /^([^']{1,60})'/.exec(text)
  return at === 0 || mark?.[1] === charset ? mark : null
}

function percentDecoded(text: Buffer): Buffer {
  const octets = text
    .toString('latin1')
    .replace(/%([0-9a-f]{2})/gi, (_, octet: string) => String.fromCharCode(Number.parseInt(octet, 16)))
  return Buffer.from(octets, 'latin1')
}

/** Scans a value from left to right, in linear time. */
class ValueScan {
  private readonly text: string
  private pos = 0

  constructor(text: string) {
    this.text = text
  }

  /** The next `name=value`, null at the end. A name without "=" is skipped. */
  parameter(): { name: string; value: string } | null {
    while (this.pos < this.text.length) {
      NAME.lastIndex = this.pos
      const match = NAME.exec(this.text)!
      this.pos = NAME.lastIndex
      if (match[2] === '') continue
      const value = this.text[this.pos] === '"' ? this.quoted() : this.unquoted()
      return { name: match[1]!.slice(0, 200).replace(/\s+/g, ''), value }
    }
    return null
  }

  /** Text up to the next ";" or to a parameter whose ";" is missing. */
  bare(): string {
    const start = this.pos
    let blank = false
    for (; this.pos < this.text.length; this.pos++) {
      const character = this.text.charCodeAt(this.pos)
      if (character === 59) break
      const white = character === 32 || (character >= 9 && character <= 13)
      if (white && !blank && this.pos > start) {
        NEXT_PARAMETER.lastIndex = this.pos
        if (NEXT_PARAMETER.test(this.text)) break
      }
      blank = white
    }
    return this.text.slice(start, this.pos)
  }

  /** An unquoted value, spaces included; a trailing comment is removed, one in the middle may be a file name's "(1)". */
  private unquoted(): string {
    return this.bare()
      .trim()
      .replace(/(?:^|\s)\([^()]*\)$/, '')
      .trim()
  }

  private quoted(): string {
    const start = this.pos + 1
    let at = start
    while (at < this.text.length && this.text[at] !== '"') at += this.text[at] === '\\' ? 2 : 1
    if (at < this.text.length) {
      this.pos = at + 1
      this.bare()
    } else {
      // The closing quote is missing: the value ends where the next parameter begins.
      at = this.text.indexOf(';', start)
      if (at < 0) at = this.text.length
      this.pos = at
    }
    // A backslash before a letter or digit is part of a Windows path, not a quoted pair.
    return this.text.slice(start, at).replace(/\\([^A-Za-z0-9])/g, '$1')
  }
}

/** Text without RFC 5322 comments; an unterminated one is kept. */
export function stripComments(text: string): string {
  if (!text.includes('(')) return text
  let kept = ''
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '(') {
      if (depth++ === 0) {
        kept += text.slice(from, at)
        from = at
      }
    } else if (character === ')' && depth > 0 && --depth === 0) {
      kept += ' '
      from = at + 1
    }
  }
  return kept + text.slice(from)
}
