// The parts of a mail we write: texts, files and the multiparts that hold them (RFC 2045, RFC 2046, RFC 2183, RFC 2231).

import { Buffer, isAscii, isUtf8 } from 'node:buffer'
import libmime from 'libmime'
import { BOUNDARY_MARK, base64Lines, encodeText, isPlainMail } from './compose-body.ts'
import { foldedField } from './compose-fields.ts'
import type { DraftAttachment } from './draft.ts'

/** A part: its own fields, and its body in pieces. */
export interface MimePart {
  fields: string
  body: Buffer[]
}

const OCTETS = 'application/octet-stream'
/** Characters of one stretch of a file name that is cut up (RFC 2231 3). */
const STRETCH = 50
const BREAK = Buffer.from('\r\n')

export function textPart(type: 'text/plain' | 'text/html', text: string): MimePart {
  const { encoding, bytes } = encodeText(text)
  return { fields: contentFields([` ${type};`, ' charset=utf-8'], encoding), body: [bytes] }
}

export function filePart(file: DraftAttachment): MimePart {
  const wanted = file.type ?? libmime.detectMimeType(file.filename)
  // RFC 2046 5.2.1: a mail inside a mail takes no encoding; one that cannot go as it is travels as plain bytes.
  const asMail = wanted === 'message/rfc822' && isPlainMail(file.content)
  const type = wanted.startsWith('message/') && !asMail ? OCTETS : wanted
  const id = file.contentId === null ? '' : foldedField('Content-ID', [` <${file.contentId}>`])
  const unnamed = type.startsWith('text/') && !/; ?charset=/i.test(type)
  const isUnicode = unnamed && !isAscii(file.content) && isUtf8(file.content)
  const content = isUnicode ? [` ${type};`, ' charset=utf-8'] : [` ${type}`]
  return {
    fields:
      contentFields(content, asMail ? '7bit' : 'base64') +
      foldedField('Content-Disposition', [` ${file.disposition};`, ...fileNamePieces(file.filename)]) +
      id,
    body: [asMail ? Buffer.from(file.content) : base64Lines(file.content)],
  }
}

/**
 * @param seed makes the boundary; of two multiparts in one mail each needs its own
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
  return { fields: foldedField('Content-Type', type), body: [...body, Buffer.from(`\r\n--${boundary}--\r\n`)] }
}

/** The body, ended by a line break whatever it is. */
export function endedBody(body: readonly Buffer[]): Buffer[] {
  const last = body.findLast((piece) => piece.length > 0)
  return last === undefined || last.at(-1) === BREAK[1] ? [...body] : [...body, BREAK]
}

function contentFields(type: string[], encoding: string): string {
  return foldedField('Content-Type', type) + foldedField('Content-Transfer-Encoding', [` ${encoding}`])
}

/** A quoted string where every reader takes one, else the extended form of RFC 2231, in stretches where it is long. */
function fileNamePieces(name: string): string[] {
  if (/^[ !#-[\]-~]+$/.test(name) && !name.includes('=?')) return [` filename="${name}"`]
  const stretches = percentStretches(name.toWellFormed())
  if (stretches.length === 1) return [` filename*=utf-8''${stretches[0]}`]
  const last = stretches.length - 1
  return stretches.map(
    (text, index) => ` filename*${index}*=${index === 0 ? "utf-8''" : ''}${text}${index < last ? ';' : ''}`,
  )
}

/** Percent-encoded, cut between characters. */
function percentStretches(text: string): string[] {
  const stretches = ['']
  for (const character of text) {
    const encoded = encodeURIComponent(character).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
    if (stretches.at(-1)!.length + encoded.length > STRETCH) stretches.push('')
    stretches[stretches.length - 1] += encoded
  }
  return stretches
}
