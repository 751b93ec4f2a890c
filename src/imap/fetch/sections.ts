// Resolves BODY[section] and BINARY[section] to bytes of the stored message, and says what has to be repaired or decoded on the way out.

import type { Part } from '../../mime/message.ts'
import { KEPT_FIELDS } from '../../mime/message-headers.ts'
import { findPart } from '../../mime/structure.ts'

/** A section as a client names it (RFC 9051 §6.4.5). */
export interface RequestedSection {
  /** Part numbers; empty for the message itself. */
  part: readonly number[]
  text: 'all' | 'header' | 'fields' | 'fields-not' | 'text' | 'mime'
  /** Names for `fields` and `fields-not`, in any case. */
  fields: readonly string[]
}

/** `<start.count>` of a section, in bytes. */
export interface RequestedRange {
  start: number
  count: number
}

/** Bytes of the stored message that are served, perhaps changed. */
export interface ServedBytes {
  kind: 'bytes'
  /** The range of the stored message to read. */
  start: number
  end: number
  /** Bytes of the answer: the size of the literal. */
  size: number
  /** Bytes of the changed content to leave out in front of the answer. */
  skip: number
  /** Bare LF becomes CRLF. */
  fixesLf: boolean
  /** NUL, which literals must not hold, becomes 0x80. */
  fixesNul: boolean
  /** Content-Transfer-Encoding to decode; null for none. */
  encoding: 'base64' | 'quoted-printable' | null
}

/** Fields of a header: the header is read whole and filtered (see header-fields.ts). */
export interface ServedFields {
  kind: 'fields'
  start: number
  end: number
  /** Lower-case. */
  names: ReadonlySet<string>
  isNot: boolean
  range: RequestedRange | null
  /** True when the kept header fields of the message have all that is asked for, unless they are cut. */
  isKept: boolean
}

/** Where a section is: `missing` is answered with NIL, `unknown-encoding` with NO [UNKNOWN-CTE] (RFC 3516 §4.3). */
export type ResolvedSection = ServedBytes | ServedFields | { kind: 'missing' | 'unknown-encoding' }

const MISSING: ResolvedSection = { kind: 'missing' }

/** Resolves BODY[section]<range>. */
export function resolveSection(
  root: Part,
  section: RequestedSection,
  range: RequestedRange | null = null,
): ResolvedSection {
  const { part: numbers, text } = section
  const part = numbers.length === 0 ? root : findPart(root, numbers.join('.'))
  if (!part) return MISSING
  if (text === 'mime') return headerOf(root, part, range)
  if (text === 'all') return numbers.length === 0 ? wholeOf(root, range) : bodyOf(root, part, range)
  // HEADER and TEXT of a part are those of the message in it.
  const message = numbers.length === 0 ? root : isMessagePart(part) ? part.parts[0] : undefined
  if (!message) return MISSING
  if (text === 'header') return headerOf(root, message, range)
  if (text === 'text') return bodyOf(root, message, range)
  const names = new Set(section.fields.map((name) => name.toLowerCase()))
  const isNot = text === 'fields-not'
  const isKept = !isNot && message === root && names.isSubsetOf(KEPT_FIELDS)
  return { kind: 'fields', start: message.headerStart, end: message.bodyStart, names, isNot, range, isKept }
}

/** Resolves BINARY[section]<range>; the size without a range is BINARY.SIZE. */
export function resolveBinary(
  root: Part,
  numbers: readonly number[],
  range: RequestedRange | null = null,
): ResolvedSection {
  if (numbers.length === 0) return asStored(0, root.bodyEnd, (root.headerLf ?? 0) + (root.bodyLf ?? 0), range)
  const part = findPart(root, numbers.join('.'))
  if (!part) return MISSING
  const { bodyStart, bodyEnd, decodedBytes, encoding } = part
  // A multipart has an identity encoding (RFC 2045 §6.4).
  if (part.type.startsWith('multipart/')) return asStored(bodyStart, bodyEnd, part.bodyLf ?? 0, range)
  if (decodedBytes === null || decodedBytes === undefined) return { kind: 'unknown-encoding' }
  const isDecoded = encoding === 'base64' || encoding === 'quoted-printable'
  if (!isDecoded) return asStored(bodyStart, bodyEnd, encoding === 'binary' ? 0 : (part.bodyLf ?? 0), range)
  const fixesLf = (part.bodyLf ?? 0) > 0
  return {
    ...cutOut(decodedBytes, range),
    kind: 'bytes',
    start: bodyStart,
    end: bodyEnd,
    fixesLf,
    fixesNul: false,
    encoding,
  }
}

/** Size of a message as BODY[] serves it: RFC822.SIZE, bytes. */
export function messageSize(root: Part): number {
  return root.bodyEnd + (root.headerLf ?? 0) + (root.bodyLf ?? 0)
}

function isMessagePart({ type }: Part): boolean {
  return type === 'message/rfc822' || type === 'message/global'
}

function wholeOf(root: Part, range: RequestedRange | null): ServedBytes {
  return repaired(root, 0, root.bodyEnd, (root.headerLf ?? 0) + (root.bodyLf ?? 0), range)
}

function headerOf(
  root: Part,
  { headerStart, bodyStart, headerLf = 0 }: Part,
  range: RequestedRange | null,
): ServedBytes {
  return repaired(root, headerStart, bodyStart, headerLf, range)
}

function bodyOf(root: Part, { bodyStart, bodyEnd, bodyLf = 0 }: Part, range: RequestedRange | null): ServedBytes {
  return repaired(root, bodyStart, bodyEnd, bodyLf, range)
}

function repaired(root: Part, start: number, end: number, lf: number, range: RequestedRange | null): ServedBytes {
  return { ...asStored(start, end, lf, range), fixesNul: root.hasNul !== false }
}

/** A range of the message as it is, but for `lf` bare LF in it, which become CRLF. */
function asStored(start: number, end: number, lf: number, range: RequestedRange | null): ServedBytes {
  const { size, skip } = cutOut(end - start + lf, range)
  const common = { kind: 'bytes', size, fixesLf: lf > 0, fixesNul: false, encoding: null } as const
  // With bare LF the offsets of the answer are not those of the message.
  return lf > 0
    ? { ...common, start, end, skip }
    : { ...common, start: start + skip, end: start + skip + size, skip: 0 }
}

function cutOut(whole: number, range: RequestedRange | null): { size: number; skip: number } {
  const skip = Math.min(range?.start ?? 0, whole)
  return { skip, size: Math.min(range?.count ?? whole, whole - skip) }
}
