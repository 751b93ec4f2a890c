// Reads a JSON object from untrusted bytes, and rejects ambiguous ones (docs/design/http.md §4).

import { isUtf8 } from 'node:buffer'
import { ProductError } from '../base/errors.ts'

/** Nesting depth of objects and arrays. */
export const JSON_DEPTH_MAX = 32
/** Members of one object. */
export const JSON_MEMBERS_MAX = 1_000
/** Objects and arrays in total. */
export const JSON_BRANCHES_MAX = 20_000
/** Members and items in total: more than a body of 1 MiB can have. */
export const JSON_VALUES_MAX = 600_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
// An escaped surrogate; only then can a parsed text be ill-formed.
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/

/**
 * @throws ProductError invalid_parameter for a byte-order mark, invalid UTF-8, malformed JSON, anything but an object,
 * too many levels or members, a repeated member, or half a surrogate pair
 */
export function readJsonObject(bytes: Buffer): Record<string, unknown> {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw wrong('starts with a byte-order mark')
  if (!isUtf8(bytes)) throw wrong('is not valid UTF-8')
  const text = bytes.toString()
  checkShape(text)
  const value = parse(text)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw wrong('is not a JSON object')
  if (SURROGATE_ESCAPE.test(text)) checkTexts(value)
  return value as Record<string, unknown>
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw wrong('is not valid JSON')
  }
}

/** One pass before the parser: depth, and repeated members. Malformed JSON is left to the parser. */
function checkShape(text: string): void {
  // For each open object its names so far, null for an open array.
  const open: (Set<string> | null)[] = []
  let nameNext = false
  let branches = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfText(text, at)
      if (nameNext) noteName(open.at(-1), text.slice(at, end + 1))
      nameNext = false
      at = end
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (open.length >= JSON_DEPTH_MAX) throw wrong(`has more than ${JSON_DEPTH_MAX} levels`)
      if (++branches > JSON_BRANCHES_MAX) throw wrong(`has more than ${JSON_BRANCHES_MAX} objects and lists`)
      nameNext = code === OPEN_OBJECT
      open.push(nameNext ? new Set() : null)
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      open.pop()
      nameNext = false
    } else if (code === COMMA) {
      if (++values > JSON_VALUES_MAX) throw wrong(`has more than ${JSON_VALUES_MAX} members and entries`)
      nameNext = open.at(-1) instanceof Set
    }
  }
}

function noteName(names: Set<string> | null | undefined, quoted: string): void {
  if (!(names instanceof Set)) return
  const name = quoted.includes('\\') ? String(parse(quoted)) : quoted.slice(1, -1)
  if (names.has(name)) throw wrong('names a member twice')
  if (names.size >= JSON_MEMBERS_MAX) throw wrong(`has an object with more than ${JSON_MEMBERS_MAX} members`)
  names.add(name)
}

/** Position of the quote that ends the string begun at `start`; the end of the text when there is none. */
function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at
  }
  return text.length
}

function checkTexts(value: unknown): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw wrong('contains half a surrogate pair')
  } else if (Array.isArray(value)) {
    for (const item of value) checkTexts(item)
  } else if (value !== null && typeof value === 'object') {
    for (const [name, item] of Object.entries(value)) {
      checkTexts(name)
      checkTexts(item)
    }
  }
}

function wrong(what: string): ProductError {
  return new ProductError('invalid_parameter', `The body ${what}.`, { param: 'body' })
}
