// Messages for tests: built from lines, shown as a structure, and checked for general properties.

import assert from 'node:assert/strict'
import { FILE_NAME_MAX } from '../../src/mime/file-name.ts'
import type { ParsedMessage, Part } from '../../src/mime/message.ts'
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
  assertOffsets(bytes, mail.structure!, new Set())
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
