// The header as signatures see it: its fields, which of them a signature covers, and their canonical forms (RFC 6376 §3.4).

import { trimBlanks } from '../base/blanks.ts'
import { lowerCase } from './tag-list.ts'

/** A field as it was sent, folds included. Texts are latin1: one character for each byte. */
export class HeaderRow {
  /** The field name in lower case; null for a line that starts with a colon. */
  readonly key: string | null
  readonly text: string

  constructor(text: string) {
    const name = nameIn(text)
    this.key = name === '' ? null : lowerCase(trimBlanks(unfolded(name)))
    this.text = text
  }

  /** The field name as written. */
  get name(): string {
    return trimBlanks(unfolded(nameIn(this.text)))
  }

  get line(): Buffer {
    return Buffer.from(this.text, 'latin1')
  }

  /**
   * Whether each reader sees the field as it is signed: the colon is in the first line, and each other line is a fold. The relaxed form
   * hides a fold in front of the colon; for some readers a line that is neither field nor fold starts the body.
   */
  get isPlain(): boolean {
    return PLAIN_START.test(this.text) && !/\n(?![ \t])/.test(this.text)
  }
}

export type HeaderForm = 'simple' | 'relaxed'

/** A field name (RFC 5322 §3.6.8), the white space that its obsolete syntax allows (§4.5), and the colon. */
const FIELD_START = /^[\x21-\x39\x3b-\x7e]+[ \t\r\n]*:/
/** The same with the colon in the first line. */
const PLAIN_START = /^[\x21-\x39\x3b-\x7e]+[ \t]*:/
const NAME_ONLY = /^[\x21-\x39\x3b-\x7e]+[ \t\r]*$/

/**
 * The rows of a header. A line that does not start a field belongs to the row above it, whatever it starts with: bytes that readers
 * may take for a part of a field are signed with it.
 */
export function headerRows(header: Uint8Array): HeaderRow[] {
  const lines = linesOf(header)
  const rows: HeaderRow[] = []
  let end = lines.length
  let isNextStart = false
  for (let at = lines.length - 1; at >= 0; at--) {
    isNextStart = at === 0 || startsField(lines[at]!, isNextStart ? undefined : lines[at + 1])
    if (!isNextStart) continue
    rows.push(new HeaderRow(end === at + 1 ? lines[at]! : lines.slice(at, end).join('\r\n')))
    end = at
  }
  return rows.reverse()
}

/** The lines of a header without those at its end that are empty. */
function linesOf(header: Uint8Array): string[] {
  let end = header.length
  while (end > 0 && (header[end - 1] === 10 || header[end - 1] === 13)) end--
  if (end === 0) return []
  return Buffer.from(header.buffer, header.byteOffset, end).toString('latin1').split(/\r?\n/)
}

/** @param next the line behind it when that starts no field: a fold may be in front of the colon */
function startsField(line: string, next: string | undefined): boolean {
  if (FIELD_START.test(line)) return true
  return next !== undefined && NAME_ONLY.test(line) && FIELD_START.test(`${line}\r\n${next}`)
}

/** How often the fields of these names occur, those that are repeated. */
export function repeatedFields(rows: readonly HeaderRow[], names: ReadonlySet<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { key } of rows) if (key !== null && names.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return new Map([...counts].filter(([, count]) => count > 1))
}

/** Selects the signed rows: each name of h= takes the last row of it that is not taken yet (RFC 6376 §5.4.2). */
export class SignedRows {
  readonly #byKey = new Map<string | null, HeaderRow[]>()

  constructor(rows: readonly HeaderRow[]) {
    for (const row of rows) {
      const others = this.#byKey.get(row.key)
      if (others === undefined) this.#byKey.set(row.key, [row])
      else others.push(row)
    }
  }

  /** @param names those of h=, in lower case */
  named(names: readonly string[]): HeaderRow[] {
    const taken = new Map<string, number>()
    const signed: HeaderRow[] = []
    for (const name of names) {
      const count = (taken.get(name) ?? 0) + 1
      const row = this.#byKey.get(name)?.at(-count)
      if (row === undefined) continue
      taken.set(name, count)
      signed.push(row)
    }
    return signed
  }
}

/** The bytes that a signature in the header signs. */
export function signedHeader(signed: readonly HeaderRow[], signature: string, form: HeaderForm): Buffer {
  const canonical = form === 'relaxed' ? relaxed : (text: string) => text
  const fields = signed.map(({ text }) => `${canonical(text)}\r\n`).join('')
  return Buffer.from(fields + withoutSignature(canonical(signature)), 'latin1')
}

/** RFC 6376 §3.4.2. Only spaces and tabs are white space, and only A to Z have a lower case. */
function relaxed(text: string): string {
  const line = unfolded(text)
  const colon = line.indexOf(':')
  const name = colon < 0 ? '' : `${trimBlanks(lowerCase(line.slice(0, colon)))}:`
  const value = colon < 0 ? line : line.slice(colon + 1).replace(/^[ \t]+/, '')
  const whole = `${name}${value}`
  return (/\t| {2}/.test(whole) ? whole.replace(/[ \t]+/g, ' ') : whole).replace(/^ | $/g, '')
}

/** Empties the last tag b= (RFC 6376 §3.7), found as the parser of tags finds it: it reads UTF-8. */
function withoutSignature(line: string): string {
  const colon = line.indexOf(':') + 1
  const tags = line.slice(colon).split(';')
  const index = tags.findLastIndex((tag) => {
    const end = tag.indexOf('=')
    return end >= 0 && Buffer.from(tag.slice(0, end), 'latin1').toString().replace(/\s+/g, ' ').trim() === 'b'
  })
  if (index >= 0) tags[index] = tags[index]!.slice(0, tags[index]!.indexOf('=') + 1)
  return line.slice(0, colon) + tags.join(';')
}

function nameIn(text: string): string {
  const colon = text.indexOf(':')
  return colon < 0 ? text : text.slice(0, colon)
}

function unfolded(text: string): string {
  return text.includes('\n') ? text.replace(/\r?\n/g, '') : text
}
