// Collects the pieces of an IMAP answer: text, and the strings that mail programs read, quoted or as literals.

import { domainToASCII } from 'node:url'
import { encodedWords } from '../../mime/compose/encode-words.ts'

/** Most texts are: nothing is to be changed. */
const PRINTABLE = /^[ -~]*$/

/** A piece of an answer: text, written as UTF-8, or bytes. */
export type ResponsePart = string | Uint8Array

/** How strings are written in a session. */
export interface StringFormat {
  /** Whether strings may hold UTF-8: after ENABLE IMAP4rev2 or UTF8=ACCEPT. */
  isUtf8: boolean
  /** `string` of RFC 9051 §9: quoted, or a literal. The text has no NUL; it is ASCII unless `isUtf8`. */
  format(text: string): ResponsePart
}

/** An answer under construction; adjacent text is one part. */
export class ResponseParts {
  readonly #format: StringFormat
  readonly #parts: ResponsePart[] = []
  #text = ''

  constructor(format: StringFormat) {
    this.#format = format
  }

  get isUtf8(): boolean {
    return this.#format.isUtf8
  }

  /** Adds syntax or numbers as they are. */
  raw(text: string): this {
    this.#text += text
    return this
  }

  /** Adds parts that were made before in the same format. */
  add(parts: readonly ResponsePart[]): this {
    for (const part of parts) this.#add(part)
    return this
  }

  /** `nstring`: unstructured text or a phrase; without UTF-8, other characters become encoded words (RFC 6858 §2.3). */
  nstring(text: string | null | undefined): this {
    if (text === null || text === undefined) return this.raw('NIL')
    if (PRINTABLE.test(text)) return this.string(text)
    const plain = onOneLine(text)
    return this.string(this.#format.isUtf8 ? plain : asciiText(plain))
  }

  /** `string`: text that is ASCII unless UTF-8 is allowed. */
  string(text: string): this {
    this.#add(this.#format.format(text))
    return this
  }

  #add(part: ResponsePart): void {
    if (typeof part === 'string') this.#text += part
    else {
      if (this.#text !== '') this.#parts.push(this.#text)
      this.#text = ''
      this.#parts.push(part)
    }
  }

  parts(): ResponsePart[] {
    return this.#text === '' ? this.#parts : [...this.#parts, this.#text]
  }
}

/** NUL is allowed in no string but literal8; line ends cannot be quoted, and mean nothing in unfolded text. */
export function onOneLine(text: string): string {
  return /[\0\r\n]/.test(text) ? text.replaceAll('\0', '?').replace(/[\r\n]+/g, ' ') : text
}

const ASCII = /^[\0-\x7f]*$/

export function isAscii(text: string): boolean {
  return ASCII.test(text)
}

/** Text in ASCII: words with other characters become encoded words, together with the white space between them (RFC 2047 §6.2). */
export function asciiText(text: string): string {
  if (isAscii(text)) return text
  // Words, and the white space between them at the odd indices.
  const pieces = text.split(/([ \t]+)/)
  let out = ''
  for (let at = 0; at < pieces.length; at += 2) {
    if (at > 0) out += pieces[at - 1]
    const start = at
    while (at + 2 < pieces.length && !isAscii(pieces[at]!) && !isAscii(pieces[at + 2]!)) at += 2
    if (isAscii(pieces[at]!)) out += pieces[at]
    else {
      // White space between two encoded words is not shown: what separates these from an existing one is part of the text.
      const before = isEncodedWord(pieces[start - 2]) ? ' ' : ''
      const after = isEncodedWord(pieces[at + 2]) ? ' ' : ''
      out += encodedWords(`${before}${pieces.slice(start, at + 1).join('')}${after}`).join(' ')
    }
  }
  return out
}

function isEncodedWord(word: string | undefined): boolean {
  return word?.startsWith('=?') === true && word.endsWith('?=')
}

/** The ASCII form of a domain; itself where it has none. */
export function asciiDomain(domain: string): string {
  return isAscii(domain) ? domain : domainToASCII(domain) || domain
}
