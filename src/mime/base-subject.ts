// The base subject of RFC 5256 §2.1, by which SORT and THREAD compare subjects, and the order of texts of RFC 5051.

import { Buffer } from 'node:buffer'
import { decodeHeader } from './decode.ts'

export interface BaseSubject {
  /** Without reply and forward marks; "" where nothing else is left. */
  text: string
  /** True when a mark of a reply or a forwarded message was removed. */
  isReply: boolean
}

const REPLY = /(?:re|fwd?)[ \t]*/iy
const BLOB = /\[[^[\]]*\][ \t]*/y
const FORWARD_END = /\(fwd\)$/i

/** The base subject of a field's text (encoded words included). Linear time. */
export function baseSubject(fieldText: string): BaseSubject {
  // Step 1: decoded to UTF-8, white space as single spaces.
  return new SubjectScan(decodeHeader(fieldText)).run()
}

class SubjectScan {
  readonly #text: string
  #start = 0
  #end: number
  #isReply = false

  constructor(text: string) {
    this.#text = text
    this.#end = text.length
  }

  run(): BaseSubject {
    do {
      this.#removeTrailers()
      while (this.#removeLeader() || this.#removeBlobs()) this.#skipSpace()
    } while (this.#removeForward())
    return { text: this.#text.slice(this.#start, this.#end), isReply: this.#isReply }
  }

  /** Step 2: "(fwd)" and white space at the end. */
  #removeTrailers(): void {
    this.#trimEnd()
    while (this.#end - this.#start >= 5 && FORWARD_END.test(this.#text.slice(this.#end - 5, this.#end))) {
      this.#end -= 5
      this.#isReply = true
      this.#trimEnd()
    }
  }

  #trimEnd(): void {
    while (this.#end > this.#start && isSpace(this.#text.charCodeAt(this.#end - 1))) this.#end--
  }

  #skipSpace(): void {
    while (this.#start < this.#end && isSpace(this.#text.charCodeAt(this.#start))) this.#start++
  }

  /** Step 3: `subj-leader`: blobs, then "re", "fw" or "fwd", perhaps one blob, and a colon. */
  #removeLeader(): boolean {
    const mark = this.#match(REPLY, this.#endOfBlobs())
    if (mark < 0) return false
    const blob = this.#match(BLOB, mark)
    const colon = blob < 0 ? mark : blob
    if (colon >= this.#end || this.#text[colon] !== ':') return false
    this.#start = colon + 1
    this.#isReply = true
    return true
  }

  /** Step 4 for all blobs at once: each is removed as long as something is left behind it. */
  #removeBlobs(): boolean {
    const before = this.#start
    for (let next = this.#match(BLOB, this.#start); next >= 0 && next < this.#end; next = this.#match(BLOB, next)) {
      this.#start = next
    }
    return this.#start > before
  }

  #endOfBlobs(): number {
    let at = this.#start
    for (let next = this.#match(BLOB, at); next >= 0; next = this.#match(BLOB, next)) at = next
    return at
  }

  /** Step 6: "[fwd: …]" around all. */
  #removeForward(): boolean {
    const inside = this.#text.slice(this.#start, this.#start + 5).toLowerCase() === '[fwd:'
    if (!inside || this.#end - this.#start < 6 || this.#text[this.#end - 1] !== ']') return false
    this.#start += 5
    this.#end--
    this.#isReply = true
    this.#skipSpace()
    return true
  }

  /** Where a match of the pattern at this offset ends, -1 when there is none within the subject. */
  #match(pattern: RegExp, at: number): number {
    if (at >= this.#end) return -1
    pattern.lastIndex = at
    return pattern.test(this.#text) && pattern.lastIndex <= this.#end ? pattern.lastIndex : -1
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9
}

/**
 * The key by which i;unicode-casemap (RFC 5051) compares a text: equal keys are equal texts, and keys in the order of
 * JavaScript's "<" are texts in the order of the collation (octets of UTF-8).
 */
export function casemapKey(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toUpperCase()
  let key = ''
  for (const character of text) {
    const upper = character.toUpperCase()
    // Simple case mapping only: "ß" stays, since "SS" are two characters.
    key += [...upper].length === 1 ? upper : character
  }
  return Buffer.from(key.normalize('NFKD').toWellFormed()).toString('latin1')
}
