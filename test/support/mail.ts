// Messages for tests: built from lines, shown as a structure, and checked for general properties.

import assert from 'node:assert/strict'
import { decodeBody } from '../../src/mime/decode.ts'
import { FILE_NAME_MAX } from '../../src/mime/file-name.ts'
import { readHeaders } from '../../src/mime/headers.ts'
import type { ParsedMessage, Part } from '../../src/mime/message.ts'
import { KEPT_FIELDS, KEPT_HEADERS_MAX, unpackHeaders } from '../../src/mime/message-headers.ts'
import { parseMessage } from '../../src/mime/parse.ts'
import { PREVIEW_MAX } from '../../src/mime/preview.ts'
import { messageTraits } from '../../src/mime/spam-traits.ts'

/** Bytes of a message with CRLF line ends; characters up to U+00FF are one byte each. */
export function mailOf(...lines: string[]): Buffer {
  return Buffer.from(lines.join('\r\n'), 'latin1')
}

/** The part tree in one line: `TEXT multipart/mixed(1 text/plain 2 image/png)`. */
export function shapeOf(part: Part): string {
  const inside = part.parts.length === 0 ? '' : `(${part.parts.map(shapeOf).join(' ')})`
  return `${part.id} ${part.type}${inside}`
}

/** The types alone: `multipart/mixed(text/plain image/png)`. */
export function typesOf(part: Part): string {
  return part.parts.length === 0 ? part.type : `${part.type}(${part.parts.map(typesOf).join(' ')})`
}

/** Parses a message and checks properties that hold for any bytes. */
export function soundMail(bytes: Uint8Array): ParsedMessage {
  const mail = parseMessage(bytes)
  messageTraits(bytes, mail, 0)
  assert.equal(mail.parsed, mail.problem === null)
  assertOneLine([mail.subject, mail.preview, ...names(mail), ...mail.attachments.map(({ filename }) => filename)])
  assert.ok([...mail.preview].length <= PREVIEW_MAX, 'the preview is longer than it may be')
  assert.ok(mail.subject.length <= 998 && mail.searchText.length <= 256 * 1024, 'a text is longer than it may be')
  for (const { filename } of mail.attachments)
    assert.ok(filename.length > 0 && filename.length <= FILE_NAME_MAX, filename)
  assert.equal(
    mail.hasAttachments,
    mail.attachments.some((attachment) => !attachment.inline),
  )
  assert.equal(mail.structure!.hasNul, bytes.includes(0))
  assertOffsets(bytes, mail.structure!, new Set())
  const kept = unpackHeaders(mail.keptHeaders)
  const fields = readHeaders(bytes).fields.filter(({ name }) => KEPT_FIELDS.has(name))
  const length = fields.reduce((sum, { start, end }) => sum + end - start, 0)
  assert.equal(kept.isCut, length > KEPT_HEADERS_MAX)
  if (!kept.isCut) {
    assert.deepEqual(kept.bytes, Buffer.concat(fields.map(({ start, end }) => bytes.subarray(start, end))))
    assert.deepEqual(
      kept.fields.map(({ name, value }) => [name, Buffer.from(value)]),
      fields.map(({ name, value }) => [name, Buffer.from(value)]),
    )
  }
  return mail
}

function names(mail: ParsedMessage): string[] {
  return [mail.from, mail.to, mail.cc, mail.bcc, mail.replyTo].flat().flatMap(({ email, name }) => [email, name])
}

function assertOneLine(texts: string[]): void {
  for (const text of texts) {
    assert.doesNotMatch(text, /[\x00-\x1f\x7f]/, 'a control character is left')
    assert.ok(text.isWellFormed(), 'half a character is left')
  }
}

function assertOffsets(bytes: Uint8Array, part: Part, ids: Set<string>): void {
  const where = `part ${part.id}`
  assert.ok(!ids.has(part.id), `${where} is there twice`)
  ids.add(part.id)
  assert.ok(part.headerStart <= part.bodyStart && part.bodyStart <= part.bodyEnd, `${where} ends before it starts`)
  assert.ok(part.bodyEnd <= bytes.length, `${where} ends behind the mail`)
  assert.equal(part.lines, lineBreaks(bytes, part.bodyStart, part.bodyEnd), where)
  assert.equal(part.headerLf ?? 0, bareLf(bytes, part.headerStart, part.bodyStart), where)
  assert.equal(part.bodyLf ?? 0, bareLf(bytes, part.bodyStart, part.bodyEnd), where)
  if (!part.bodyLf) assert.equal(part.decodedBytes, decodedSize(bytes, part), where)
  let from = part.bodyStart
  for (const child of part.parts) {
    assert.ok(child.headerStart >= from, `${where}: part ${child.id} starts before the one in front of it ends`)
    from = child.bodyEnd
    assertOffsets(bytes, child, ids)
  }
}

function lineBreaks(bytes: Uint8Array, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) if (bytes[at] === 10) count++
  return count
}

function bareLf(bytes: Uint8Array, start: number, end: number): number {
  return bytes
    .subarray(start, end)
    .reduce((sum, byte, at, range) => sum + Number(byte === 10 && range[at - 1] !== 13), 0)
}

/** Decoded size of a part without bare LF: undefined for a multipart, null for an unknown encoding. */
function decodedSize(bytes: Uint8Array, { type, encoding, bodyStart, bodyEnd }: Part): number | null | undefined {
  if (type.startsWith('multipart/')) return undefined
  if (!['7bit', '8bit', 'binary', 'base64', 'quoted-printable'].includes(encoding)) return null
  return decodeBody(bytes.subarray(bodyStart, bodyEnd), encoding).length
}
