// Cuts the text of a Sieve script into tokens (RFC 5228 8.1).

import { ScriptFault } from './errors.ts'

export interface Token {
  kind: 'word' | 'tag' | 'number' | 'string' | 'mark' | 'end'
  /** Words and tags in lower case, tags without their colon; strings as they are meant. */
  text: string
  /** Of a number, its quantifier multiplied in. */
  value: number
  /** Offset in the script. */
  at: number
}

/** Bytes of a script (decisions §10.14). */
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
 * @throws ScriptFault
 */
export function tokensOf(script: string): Token[] {
  checkText(script)
  const tokens: Token[] = []
  let at = 0
  while (at < script.length) {
    const behind = passOver(script, at)
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
    throw new ScriptFault(0, `A script has at most ${SCRIPT_BYTES_MAX} bytes.`)
  }
  // RFC 5228 2.1: NUL is never permitted.
  const odd = /\0|\p{Surrogate}/u.exec(script)
  if (odd) throw new ScriptFault(odd.index, 'This character cannot stand in a script.')
}

/** Where white space or a comment that starts here ends. */
function passOver(script: string, at: number): number {
  BLANK.lastIndex = at
  if (BLANK.test(script)) return BLANK.lastIndex
  if (!script.startsWith('/*', at)) return at
  const end = script.indexOf('*/', at + 2)
  if (end < 0) throw new ScriptFault(at, 'This comment is never closed.')
  return end + 2
}

function tokenAt(script: string, at: number): { token: Token; end: number } {
  const make = (kind: Token['kind'], text: string, end: number, value = 0) => ({
    token: { kind, text, value, at },
    end,
  })
  const first = script[at]!
  if (MARKS.includes(first)) return make('mark', first, at + 1)
  if (first === '"') {
    const text = match(STRING, script, at)
    if (!text) throw new ScriptFault(at, 'This string is never closed.')
    // RFC 5228 2.4.2: an escape that means nothing is the character alone.
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
  if (!number) throw new ScriptFault(at, 'This character does not belong here.')
  const value = Number(number[1]) * FACTORS[number[2]!.toLowerCase()]!
  if (value > NUMBER_MAX) throw new ScriptFault(at, `A number is at most ${NUMBER_MAX}.`)
  return make('number', number[0], NUMBER.lastIndex, value)
}

function match(pattern: RegExp, script: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(script)
}

/** The lines up to one with a single dot; a line that starts with two dots has one of them to spare (RFC 5228 2.4.2). */
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
  throw new ScriptFault(opened, 'This text is never closed by a line with a single dot.')
}

/** RFC 5228 2.1: a line ends in CRLF, however the script was written down. */
function lines(text: string): string {
  return text.includes('\n') ? text.replaceAll('\n', '\r\n') : text
}
