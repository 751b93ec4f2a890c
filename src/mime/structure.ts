// Parses the MIME structure of a message: its parts with their byte offsets, in one pass over the lines.

import type { Buffer } from 'node:buffer'
import { asBuffer } from './charset.ts'
import { type HeaderField, readHeaders } from './headers.ts'
import type { Part } from './message.ts'
import { describePart, isMessage } from './part.ts'
import { PartDetails } from './part-details.ts'

/** Limits of a message's structure (architecture decision 13). Content beyond is stored raw, without parts of its own. */
export const PARTS_MAX = 1000
export const DEPTH_MAX = 100

export interface Structure {
  root: Part
  /** The header fields of the message itself. */
  fields: HeaderField[]
  /** The exceeded limit, one short sentence; null when none. */
  problem: string | null
}

/**
 * Reads the structure. Part ids are IMAP's (RFC 9051 6.4.5); a multipart that is the body of a message has no number there
 * and is named "TEXT" ("2.TEXT" inside message 2), as IMAP names that section. Linear in the bytes, never throws.
 */
export function readStructure(bytes: Uint8Array): Structure {
  return new StructureWalk(asBuffer(bytes)).run()
}

/** The part of this id, where there is one. */
export function findPart(root: Part, id: string): Part | undefined {
  if (root.id === id) return root
  for (const part of root.parts) {
    const found = findPart(part, id)
    if (found) return found
  }
  return undefined
}

/**
 * The charset a message declares: its own, or that of its first text. Mailers that write raw 8-bit text into the Subject
 * write it in this one.
 */
export function declaredCharset(part: Part | null): string | null {
  if (part === null || part.charset !== null) return part?.charset ?? null
  if (part.type.startsWith('message/')) return null
  for (const inside of part.parts) {
    const charset = declaredCharset(inside)
    if (charset !== null) return charset
  }
  return null
}

/** A part whose end has not been seen. */
interface OpenPart {
  part: Part
  /** Set on a multipart until its closing boundary; latin1 form of the bytes. */
  boundary: string | null
  /** The entry of this boundary that an outer multipart had, to be put back. */
  shadowed: number | undefined
  /** Line breaks seen before its body, and those of them that are a bare LF. */
  linesBefore: number
  bareBefore: number
}

const LF = 10
const CR = 13
const DASH = 45
/** Returned when the part limit is reached. */
const STOP = -1

class StructureWalk {
  private readonly bytes: Buffer
  /** From the root to the innermost part. */
  private readonly open: OpenPart[] = []
  /** Active boundaries and the index of their multipart in `open`; of equal boundaries the inner one is kept. */
  private readonly boundaries = new Map<string, number>()
  private longest = 0
  private count = 0
  private lines = 0
  /** Bare LF among `lines`. */
  private bare = 0
  private readonly details = new PartDetails()
  private problem: string | null = null
  private fields: HeaderField[] = []

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  run(): Structure {
    let pos = this.begin(0, null)
    const { bytes } = this
    const end = bytes.length
    let lineStart = pos
    // A byte loop: indexOf for line breaks costs 20 times as much on empty lines.
    while (pos < end) {
      while (pos < end && bytes[pos] !== LF) pos++
      if (pos < end) pos++
      if (bytes[lineStart] === DASH && bytes[lineStart + 1] === DASH) {
        const next = this.boundaryLine(lineStart, pos)
        if (next === STOP) break
        if (next !== null) {
          pos = next
          lineStart = pos
          continue
        }
      }
      if (bytes[pos - 1] === LF) this.countLine(pos)
      lineStart = pos
    }
    this.finish(pos)
    const root = this.open[0]!.part
    root.hasNul = bytes.includes(0)
    return { root, fields: this.fields, problem: this.problem }
  }

  /** Handles a line that may be a boundary; returns the offset to continue at, null when it is not one. */
  private boundaryLine(start: number, next: number): number | null {
    const found = this.match(start, endOfText(this.bytes, start, next))
    if (!found) return null
    this.closeAbove(found.at, start)
    if (this.bytes[next - 1] === LF) this.countLine(next)
    const multipart = this.open[found.at]!
    if (found.closing) {
      this.forget(multipart)
      return next
    }
    if (this.count >= PARTS_MAX) {
      this.problem ??= `The message has more than ${PARTS_MAX} parts.`
      return STOP
    }
    return this.begin(next, multipart.part)
  }

  /** Opens the part that starts here, and the message inside it where it is one; returns where its body starts. */
  private begin(start: number, parent: Part | null): number {
    let at = start
    for (let outer = parent; ; ) {
      const isBoundary = (from: number, to: number) => this.match(from, to) !== null
      const isPart = outer?.type.startsWith('multipart/')
      const headers = readHeaders(this.bytes, { start: at, isBoundary, isPart })
      this.problem ??= headers.problem
      if (this.count++ === 0) this.fields = headers.fields
      const bareBefore = this.bare
      this.countLines(at, headers.bodyStart)
      const position = { outer, headerStart: at, bodyStart: headers.bodyStart }
      const { part, boundary } = describePart(headers.fields, position, this.details)
      if (this.bare > bareBefore) part.headerLf = this.bare - bareBefore
      if (outer && !isPart) this.details.addEnvelope(outer, headers.fields)
      outer?.parts.push(part)
      this.open.push({ part, boundary: null, shadowed: undefined, linesBefore: this.lines, bareBefore: this.bare })
      at = headers.bodyStart
      if (boundary !== null && this.mayDescend()) this.remember(boundary)
      if (!isMessage(part) || !this.mayDescend()) return at
      outer = part
    }
  }

  /** True while another level fits; an embedded message counts as a level, like a multipart. */
  private mayDescend(): boolean {
    if (this.open.length > DEPTH_MAX) this.problem ??= `The parts are nested deeper than ${DEPTH_MAX}.`
    else if (this.count >= PARTS_MAX) this.problem ??= `The message has more than ${PARTS_MAX} parts.`
    else return true
    return false
  }

  private remember(boundary: string): void {
    const last = this.open.at(-1)!
    last.boundary = boundary
    last.shadowed = this.boundaries.get(boundary)
    this.boundaries.set(boundary, this.open.length - 1)
    this.longest = Math.max(this.longest, boundary.length)
  }

  private forget(multipart: OpenPart): void {
    if (multipart.boundary === null) return
    if (multipart.shadowed === undefined) this.boundaries.delete(multipart.boundary)
    else this.boundaries.set(multipart.boundary, multipart.shadowed)
    multipart.boundary = null
  }

  /** Ends the parts inside the multipart at this index; the line break before a boundary belongs to the boundary (RFC 2046 §5.1.1). */
  private closeAbove(at: number, lineStart: number): void {
    const end = endOfText(this.bytes, 0, lineStart)
    while (this.open.length > at + 1) {
      const ended = this.open.pop()!
      this.forget(ended)
      const { part } = ended
      part.bodyEnd = Math.max(part.bodyStart, end)
      // The line break before the boundary is counted already.
      const outside = part.bodyStart <= end ? 1 : 0
      part.lines = Math.max(0, this.lines - ended.linesBefore - outside)
      const bareOutside = outside === 1 && lineStart - end === 1 ? 1 : 0
      this.setBare(ended, bareOutside)
    }
  }

  private finish(pos: number): void {
    this.countLines(pos, this.bytes.length)
    for (const opened of this.open) {
      opened.part.bodyEnd = this.bytes.length
      opened.part.lines = this.lines - opened.linesBefore
      this.setBare(opened, 0)
    }
  }

  private setBare({ part, bareBefore }: OpenPart, outside: number): void {
    const bare = this.bare - bareBefore - outside
    if (bare > 0) part.bodyLf = bare
  }

  /** Counts the line break that ends at this offset. */
  private countLine(next: number): void {
    this.lines++
    if (this.bytes[next - 2] !== CR) this.bare++
  }

  private countLines(start: number, end: number): void {
    const { bytes } = this
    for (let at = start; at < end; at++) if (bytes[at] === LF) this.countLine(at + 1)
  }

  /**
   * Which multipart the line belongs to. The whole line must be the boundary, but for white space behind it or text
   * behind a space (RFC 2046 5.1.1): a boundary that only begins like another one is not that other one.
   */
  private match(start: number, lineEnd: number): { at: number; closing: boolean } | null {
    if (this.boundaries.size === 0) return null
    const first = this.bytes.toString('latin1', start + 2, Math.min(lineEnd, start + this.longest + 6))
    const whole = this.lookUp(first) ?? this.lookUp(first.trimEnd())
    if (whole) return whole
    const space = first.search(/[ \t]/)
    return space > 0 ? this.lookUp(first.slice(0, space)) : null
  }

  /** The inner of "opens" and "closes", where a boundary ends in "--" itself. */
  private lookUp(text: string): { at: number; closing: boolean } | null {
    const opens = this.boundaries.get(text) ?? -1
    const closes = text.endsWith('--') ? (this.boundaries.get(text.slice(0, -2)) ?? -1) : -1
    if (opens < 0 && closes < 0) return null
    return opens >= closes ? { at: opens, closing: false } : { at: closes, closing: true }
  }
}

function endOfText(bytes: Buffer, start: number, next: number): number {
  if (next <= start || bytes[next - 1] !== LF) return next
  return next - 1 > start && bytes[next - 2] === CR ? next - 2 : next - 1
}
