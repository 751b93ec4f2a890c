// Folds header lines that are longer than a server has to accept: another one would break them, and the signature with them.

import { type HeaderField, readHeaders } from '../headers.ts'
import type { Part } from '../message.ts'
import { isMessage } from '../part.ts'
import { LINE_MAX } from './fields.ts'
import { type Edit, SEALED } from './seven-bits.ts'

/** Where a folded line should end (RFC 5322 §2.1.1), characters. */
const LINE_GOOD = 76
/** Fields of address lists, which may be folded behind a comma without a space (RFC 5322 §3.4). */
const LISTS = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'resent-to', 'resent-cc'])
const [TAB, LF, SPACE, QUOTE, COMMA, BACKSLASH] = [9, 10, 32, 34, 44, 92]

/**
 * The edits after which no line of a header exceeds RFC 5322 §2.1.1, as far as it has a place to be folded: that of the message, and of its
 * parts unless they are signed or encrypted. Folding adds line breaks in front of white space only, which relaxed signatures do not see.
 * @param root of `readStructure(bytes)`
 */
export function longLineEdits(bytes: Uint8Array, root: Part): Edit[] {
  const { fields } = readHeaders(bytes, { start: root.headerStart, end: root.bodyStart })
  const own = fields.flatMap((field) => (hasLongLine(bytes, field) ? [editOf(bytes, field)] : []))
  const isWhole = SEALED.has(root.type) || isMessage(root)
  return isWhole ? own : [...own, ...root.parts.flatMap((part) => longLineEdits(bytes, part))]
}

/** The header of a whole message, and what follows it, with long lines folded. */
export function withFoldedHeader(bytes: Uint8Array): Uint8Array {
  const long = readHeaders(bytes).fields.filter((field) => hasLongLine(bytes, field))
  if (long.length === 0) return bytes
  const pieces: Uint8Array[] = []
  let from = 0
  for (const field of long) {
    pieces.push(bytes.subarray(from, field.start), folded(bytes, field))
    from = field.end
  }
  return Buffer.concat([...pieces, bytes.subarray(from)])
}

function editOf(bytes: Uint8Array, field: HeaderField): Edit {
  return { start: field.start, end: field.end, text: folded(bytes, field) }
}

function hasLongLine(bytes: Uint8Array, { start, end }: HeaderField): boolean {
  if (end - start <= LINE_MAX) return false
  for (let from = start; from < end; ) {
    const at = bytes.subarray(from, end).indexOf(LF)
    const length = at < 0 ? end - from : at - 1
    if (length > LINE_MAX) return true
    from = at < 0 ? end : from + at + 1
  }
  return false
}

function folded(bytes: Uint8Array, { name, start, end }: HeaderField): Uint8Array {
  const lines: string[] = []
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
  for (const line of text.split(/(?<=\n)/)) {
    if (line.length <= LINE_MAX + '\r\n'.length) lines.push(line)
    else lines.push(...linesOf(line.trimEnd(), LISTS.has(name)).map((piece) => `${piece}\r\n`))
  }
  return Buffer.from(lines.join(''), 'latin1')
}

/** @param isList whether a line may end behind a comma that no space follows */
function linesOf(line: string, isList: boolean): string[] {
  const lines: string[] = []
  let from = 0
  /** The last offset where a line may end, and whether the next one needs a space in front. */
  let breakAt = -1
  let needsSpace = false
  let prefix = ''
  let isQuoted = false
  const endLine = () => {
    lines.push(prefix + line.slice(from, breakAt))
    prefix = needsSpace ? ' ' : ''
    from = breakAt
    breakAt = -1
  }
  // The first word stays behind the name of the field: some programs lose a value that begins on the second line.
  const first = /^[^:]*:[ \t]*[^ \t]*/.exec(line)![0].length
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    if (breakAt >= 0 && at - from >= LINE_GOOD) endLine()
    if (code === BACKSLASH && isQuoted) at++
    else if (code === QUOTE) isQuoted = !isQuoted
    else if ((code === SPACE || code === TAB) && at >= first && !isBlank(line.charCodeAt(at - 1))) {
      ;[breakAt, needsSpace] = [at, false]
    } else if (isList && code === COMMA && !isQuoted && !isBlank(line.charCodeAt(at + 1)) && at + 1 < line.length) {
      ;[breakAt, needsSpace] = [at + 1, true]
    }
  }
  if (breakAt >= 0 && line.length - from > LINE_GOOD) endLine()
  return [...lines, prefix + line.slice(from)]
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}
