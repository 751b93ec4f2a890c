// Writes MIME parts: texts, files and multiparts (RFC 2045, RFC 2046, RFC 2183, RFC 2231).

import { Buffer, isAscii, isUtf8 } from 'node:buffer'
import libmime from 'libmime'
import { BOUNDARY_MARK, base64Lines, encodeText, encodeTextFile, unencodedForm, withCrlf } from './body.ts'
import type { DraftAttachment } from './draft.ts'
import { foldedField } from './fields.ts'

/** A part: its header fields, and its body as a list of buffers. */
export interface MimePart {
  fields: string
  body: Buffer[]
  /** True with 8-bit content: the enclosing multiparts must be declared 8bit too (RFC 2045 §6.4). */
  isEightBit?: boolean
}

interface EncodedFile {
  encoding: '7bit' | '8bit' | 'quoted-printable' | 'base64'
  bytes: Buffer
}

const OCTETS = 'application/octet-stream'
/** Characters of one segment of a split file name (RFC 2231 §3). */
const SEGMENT_MAX = 50
/** Characters of the ASCII fallback name, and of its extension. */
const PLAIN_NAME_MAX = 60
/** Characters that are searched for the end of the first field name. */
const FIELD_NAME_MAX = 200
const BREAK = Buffer.from('\r\n')

export function textPart(type: 'text/plain' | 'text/html', text: string): MimePart {
  const { encoding, bytes } = encodeText(text)
  return { fields: contentFields([` ${type};`, ' charset=utf-8'], encoding), body: [bytes] }
}

export function filePart(file: DraftAttachment): MimePart {
  const wanted = file.type ?? libmime.detectMimeType(file.filename)
  if (/^message\/rfc822\b/.test(wanted) && beginsWithField(file.content)) {
    // RFC 2046 5.2.1: a message inside a message takes no encoding. Content that would need encoding is sent as application/octet-stream.
    const content = withCrlf(file.content)
    const form = unencodedForm(content)
    if (form !== null) return partOf(file, [' message/rfc822'], { encoding: form, bytes: Buffer.from(content) })
  }
  const type = wanted.startsWith('message/') ? OCTETS : wanted
  const unnamed = type.startsWith('text/') && !/; ?charset=/i.test(type)
  const isUnicode = unnamed && !isAscii(file.content) && isUtf8(file.content)
  const content = isUnicode ? [` ${type};`, ' charset=utf-8'] : [` ${type}`]
  const text = type.startsWith('text/') ? encodeTextFile(file.content) : null
  return partOf(file, content, text ?? { encoding: 'base64', bytes: base64Lines(file.content) })
}

/** A message begins with a header field (RFC 5322 §2.2). */
function beginsWithField(content: Uint8Array): boolean {
  return /^[!-9;-~]+[ \t]*:/.test(Buffer.from(content.subarray(0, FIELD_NAME_MAX)).toString('latin1'))
}

function partOf(file: DraftAttachment, type: string[], { encoding, bytes }: EncodedFile): MimePart {
  const id = file.contentId === null ? '' : foldedField('Content-ID', [` <${file.contentId}>`])
  return {
    fields:
      contentFields(type, encoding) +
      foldedField('Content-Disposition', [` ${file.disposition};`, ...fileNamePieces(file.filename)]) +
      id,
    body: [bytes],
    isEightBit: encoding === '8bit',
  }
}

/**
 * @param seed of the boundary; must be unique within the message
 * @param parameters further ones, such as ` type="text/html"`
 */
export function multipart(
  subtype: string,
  seed: string,
  parts: readonly MimePart[],
  parameters: string[] = [],
): MimePart {
  const boundary = `${BOUNDARY_MARK}${seed}`
  const type = [` multipart/${subtype};`, ...parameters.map((one) => `${one};`), ` boundary="${boundary}"`]
  const body = parts.flatMap(({ fields, body: inside }, index) => [
    Buffer.from(`${index === 0 ? '' : '\r\n'}--${boundary}\r\n${fields}\r\n`, 'latin1'),
    ...inside,
  ])
  const isEightBit = parts.some((part) => part.isEightBit === true)
  const fields = isEightBit ? contentFields(type, '8bit') : foldedField('Content-Type', type)
  return { fields, body: [...body, Buffer.from(`\r\n--${boundary}--\r\n`)], isEightBit }
}

/** The body with a line break at its end. */
export function endedBody(body: readonly Buffer[]): Buffer[] {
  const last = body.findLast((piece) => piece.length > 0)
  return last === undefined || last.at(-1) === BREAK[1] ? [...body] : [...body, BREAK]
}

function contentFields(type: string[], encoding: string): string {
  return foldedField('Content-Type', type) + foldedField('Content-Transfer-Encoding', [` ${encoding}`])
}

/**
 * A quoted string where that is sufficient; otherwise the extended form of RFC 2231, in segments where it is long, before an ASCII
 * fallback name. Python's email package takes the first of the two, all others the extended one (RFC 6266 4.3).
 */
function fileNamePieces(name: string): string[] {
  if (isPlainName(name)) return [` filename="${name}"`]
  const plain = ` filename="${plainName(name)}"`
  const segments = percentSegments(name.toWellFormed())
  if (segments.length === 1) return [` filename*=utf-8''${segments[0]};`, plain]
  return [...segments.map((text, index) => ` filename*${index}*=${index === 0 ? "utf-8''" : ''}${text};`), plain]
}

function isPlainName(name: string): boolean {
  return /^[ !#-[\]-~]+$/.test(name) && !name.includes('=?')
}

/** The ASCII fallback name: diacritics removed, other characters replaced by "_", extension kept, never empty. */
function plainName(name: string): string {
  const dot = name.lastIndexOf('.')
  const ascii = (text: string) =>
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .replace(/[^ !#-<>-[\]-~]+/g, '_')
  const stem = ascii(dot < 0 ? name : name.slice(0, dot)).slice(0, PLAIN_NAME_MAX)
  const extension = dot < 0 ? '' : ascii(name.slice(dot)).slice(0, PLAIN_NAME_MAX)
  return `${/[A-Za-z0-9]/.test(stem) ? stem : 'attachment'}${extension}`
}

/** Percent-encoded, cut between characters. */
function percentSegments(text: string): string[] {
  const segments = ['']
  for (const character of text) {
    const encoded = encodeURIComponent(character).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
    if (segments.at(-1)!.length + encoded.length > SEGMENT_MAX) segments.push('')
    segments[segments.length - 1] += encoded
  }
  return segments
}
