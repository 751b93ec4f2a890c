// Splits the text of a Sieve script into tokens (RFC 5228 8.1).

import { SieveError } from './errors.ts'

export interface SieveToken {
  kind: 'word' | 'tag' | 'number' | 'string' | 'mark' | 'end'
  /** Words and tags in lower case, tags without their colon; strings unescaped. */
  text: string
  /** The value of a number, multiplied by its quantifier. */
  value: number
  /** Offset in the script. */
  at: number
}

/** Bytes of a script (docs/design/mailbox.md §14). */
export const SCRIPT_BYTES_MAX = 65_536
/** RFC 5228 2.4.1 asks for 2^31 - 1 at least. */
const NUMBER_MAX = Number.MAX_SAFE_INTEGER
const FACTORS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

const BLANK = /[ \t\n]+|#[^\n]*/y
const MARKS = '[](){},;'
const WORD = /:?[A-Za-z_][A-Za-z0-9_]*/y
const NUMBER = /([0-9]+)([KMG]?)(?![A-Za-z0-9_])/iy
const BLOCK = /text:[ \t]*(?:#[^\n]*)?\n/iy
const STRING = /"((?:[^"\\]|\\[\s\S])*)"/y

/**
 * @param script with LF line ends
 * @throws SieveError
 */
export function tokensOf(script: string): SieveToken[] {
  checkText(script)
  const tokens: SieveToken[] = []
  let at = 0
  while (at < script.length) {
    const behind = skipBlank(script, at)
    if (behind > at) {
      at = behind
      continue
    }
    const { token, end } = tokenAt(script, at)
    tokens.push(token)
    at = end
  }
  tokens.push({ kind: 'end', text: '', value: 0, at: script.length })
  return tokens
}

function checkText(script: string): void {
  if (Buffer.byteLength(script) > SCRIPT_BYTES_MAX) {
    throw new SieveError(0, `A script has at most ${SCRIPT_BYTES_MAX} bytes.`)
  }
  // RFC 5228 2.1: NUL is never permitted.
  const odd = /\0|\p{Surrogate}/u.exec(script)
  if (odd) throw new SieveError(odd.index, 'This character is not allowed in a script.')
}

/** End of the white space or comment that starts here. */
function skipBlank(script: string, at: number): number {
  BLANK.lastIndex = at
  if (BLANK.test(script)) return BLANK.lastIndex
  if (!script.startsWith('/*', at)) return at
  const end = script.indexOf('*/', at + 2)
  if (end < 0) throw new SieveError(at, 'This comment is never closed.')
  return end + 2
}

function tokenAt(script: string, at: number): { token: SieveToken; end: number } {
  const make = (kind: SieveToken['kind'], text: string, end: number, value = 0) => ({
    token: { kind, text, value, at },
    end,
  })
  const first = script[at]!
  if (MARKS.includes(first)) return make('mark', first, at + 1)
  if (first === '"') {
    const text = match(STRING, script, at)
    if (!text) throw new SieveError(at, 'This string is never closed.')
    // RFC 5228 2.4.2: an undefined escape is the character itself.
    const plain = text[1]!.includes('\\') ? text[1]!.replace(/\\([\s\S])/g, '$1') : text[1]!
    return make('string', lines(plain), STRING.lastIndex)
  }
  if (match(BLOCK, script, at)) {
    const { text, end } = textBlock(script, at, BLOCK.lastIndex)
    return make('string', text, end)
  }
  const word = match(WORD, script, at)
  if (word) {
    const isTag = first === ':'
    return make(isTag ? 'tag' : 'word', word[0].slice(isTag ? 1 : 0).toLowerCase(), WORD.lastIndex)
  }
  const number = match(NUMBER, script, at)
  if (!number) throw new SieveError(at, 'This character is not allowed here.')
  const value = Number(number[1]) * FACTORS[number[2]!.toLowerCase()]!
  if (value > NUMBER_MAX) throw new SieveError(at, `A number is at most ${NUMBER_MAX}.`)
  return make('number', number[0], NUMBER.lastIndex, value)
}

function match(pattern: RegExp, script: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(script)
}

/** The lines up to one with a single dot; a leading double dot is unstuffed (RFC 5228 2.4.2). */
function textBlock(script: string, opened: number, from: number): { text: string; end: number } {
  let text = ''
  for (let at = from; at < script.length; ) {
    const lineEnd = script.indexOf('\n', at)
    const end = lineEnd < 0 ? script.length : lineEnd
    const line = script.slice(at, end)
    if (line === '.') return { text, end: Math.min(end + 1, script.length) }
    text += `${line.startsWith('..') ? line.slice(1) : line}\r\n`
    at = end + 1
  }
  throw new SieveError(opened, 'This text is never closed by a line with a single dot.')
}

/** RFC 5228 2.1: lines in strings end in CRLF. */
function lines(text: string): string {
  return text.includes('\n') ? text.replaceAll('\n', '\r\n') : text
}
