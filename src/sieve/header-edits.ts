// Changes of the header by a script (RFC 5293): recorded as cuts and additions, and applied to the bytes at the end.

import { Buffer } from 'node:buffer'
import { textField } from '../mime/compose/fields.ts'
import { type HeaderField, readHeaders } from '../mime/headers.ts'
import { textOf } from './encoded.ts'
import { SieveRuntimeError } from './errors.ts'

/** What a script changes, by offsets in the stored message. */
export interface HeaderEdits {
  /** Fields that are left out, ascending. */
  cuts: { start: number; end: number }[]
  /** Fields in front of the others, behind the trace fields of this host, and behind all others; with their line breaks, as octets. */
  top: string
  bottom: string
}

/** Octets that a script adds to one message. */
export const ADDED_MAX = 16 * 1024
/** Messages above this size are not changed: each recipient would need a copy. Bytes. */
export const EDITED_BYTES_MAX = 10 * 1024 * 1024
/**
 * Fields that no script changes (RFC 5293 §6): trace fields and signatures, which say where a message has been and who vouches for it,
 * and the fields that say who wrote to whom and where answers go. A verdict on the author holds for those.
 */
const PROTECTED = new RegExp(
  '^(?:' +
    'received|received-spf|return-path|delivered-to|authentication-results|auto-submitted' +
    '|(?:dkim|domainkey)-signature|arc-.*|x-mailstead-.*|resent-.*' +
    '|from|sender|reply-to|to|cc|bcc|date|message-id|list-.*' +
    '|errors-to|mail-(?:followup|reply)-to|disposition-notification-to|return-receipt-to' +
    ')$',
)

/** Whether scripts cannot change the fields of that name. */
export function isProtectedField(name: string): boolean {
  return PROTECTED.test(name.toLowerCase())
}

/** A field as scripts see it; `added` is its text when the script has added it. */
interface EditedField {
  name: string
  field: HeaderField
  added: string | null
}

export class HeaderEditor {
  #fields: EditedField[]
  readonly #traceEnd: number
  readonly #cuts: HeaderEdits['cuts'] = []
  #added = 0

  constructor(bytes: Uint8Array) {
    this.#traceEnd = traceEnd(bytes)
    this.#fields = readHeaders(bytes).fields.map((field) => ({ name: field.name, field, added: null }))
    if (bytes.length > EDITED_BYTES_MAX) {
      throw new SieveRuntimeError(`The header of a message above ${EDITED_BYTES_MAX} bytes cannot be changed.`)
    }
  }

  get fields(): HeaderField[] {
    return this.#fields.map(({ field }) => field)
  }

  /** @param value octets */
  add(name: string, value: string, isLast: boolean): void {
    // RFC 5293 §6: a change that is not permitted is ignored; the upload of the script warns of it.
    if (isProtectedField(name)) return
    const text = fieldOf(name, value)
    this.#added += text.length
    if (this.#added > ADDED_MAX) throw new SieveRuntimeError(`A script adds at most ${ADDED_MAX} octets to the header.`)
    const field = readHeaders(Buffer.from(text, 'latin1')).fields[0]!
    const entry = { name: name.toLowerCase(), field: { ...field, start: -1, end: -1 }, added: text }
    if (isLast) this.#fields.push(entry)
    else this.#fields.splice(this.#indexBehindTrace(), 0, entry)
  }

  remove(chosen: ReadonlySet<HeaderField>): void {
    const fields = new Set([...chosen].filter(({ name }) => !isProtectedField(name)))
    for (const { field, added } of this.#fields) {
      if (fields.has(field) && added === null) this.#cuts.push({ start: field.start, end: field.end })
    }
    this.#fields = this.#fields.filter(({ field }) => !fields.has(field))
  }

  /** Null when nothing is changed. */
  get edits(): HeaderEdits | null {
    const added = this.#fields.flatMap(({ added: text }, index) => (text === null ? [] : [{ text, index }]))
    if (added.length === 0 && this.#cuts.length === 0) return null
    const lastKept = this.#fields.findLastIndex(({ added: text }) => text === null)
    const isTop = ({ index }: { index: number }) => index < lastKept
    return {
      cuts: this.#cuts.toSorted((a, b) => a.start - b.start),
      top: added
        .filter(isTop)
        .map(({ text }) => text)
        .join(''),
      bottom: added
        .filter((one) => !isTop(one))
        .map(({ text }) => text)
        .join(''),
    }
  }

  #indexBehindTrace(): number {
    const index = this.#fields.findIndex(({ field, added }) => added !== null || field.start >= this.#traceEnd)
    return index < 0 ? this.#fields.length : index
  }
}

/** The message with its changes. */
export function applyEdits(bytes: Uint8Array, { cuts, top, bottom }: HeaderEdits): Uint8Array {
  const { fields, bodyStart } = readHeaders(bytes)
  const begin = traceEnd(bytes)
  const end = fields.at(-1)?.end ?? bodyStart
  const pieces: Uint8Array[] = []
  let from = 0
  const copyTo = (to: number) => {
    for (const cut of cuts) {
      if (cut.start < from || cut.start >= to) continue
      pieces.push(bytes.subarray(from, cut.start))
      from = cut.end
    }
    pieces.push(bytes.subarray(from, Math.max(from, to)))
    from = Math.max(from, to)
  }
  copyTo(begin)
  pieces.push(Buffer.from(top, 'latin1'))
  copyTo(end)
  pieces.push(Buffer.from(bottom, 'latin1'))
  copyTo(bytes.length)
  return Buffer.concat(pieces)
}

/**
 * Whether the changed message shows the protected fields of the original and no others. Fewer fields bring those into view that stood
 * behind a limit of the parser: another author than the one that was verified.
 */
export function keepsProtectedFields(original: Uint8Array, changed: Uint8Array): boolean {
  const [before, after] = [original, changed].map((bytes) =>
    readHeaders(bytes).fields.filter(({ name }) => isProtectedField(name)),
  )
  return (
    before!.length === after!.length &&
    before!.every(
      ({ name, value }, index) => name === after![index]!.name && Buffer.compare(value, after![index]!.value) === 0,
    )
  )
}

/** Behind the fields that this host has put in front: Return-Path, Authentication-Results, Received. */
function traceEnd(bytes: Uint8Array): number {
  const names = ['return-path', 'authentication-results', 'received']
  let end = 0
  for (const [index, field] of readHeaders(bytes).fields.slice(0, names.length).entries()) {
    if (field.name !== names[index] || field.start !== end) break
    end = field.end
  }
  return end
}

/** RFC 5293 §4: folded where it is long, and with encoded words (RFC 2047) where it is not ASCII. */
function fieldOf(name: string, value: string): string {
  return textField(name, (textOf(value) ?? value).replace(/[\r\n\0]+[ \t]*/g, ' ').trim())
}
