// Strings of IMAP answers for tests: quoted where possible, else literals; and answers as bytes.

import { Buffer } from 'node:buffer'
import type { ResponsePart, StringFormat } from '../../src/imap/fetch/response-parts.ts'

export function stringFormat(isUtf8: boolean): StringFormat {
  return { isUtf8, format: (text) => formatted(text, isUtf8) }
}

function formatted(text: string, isUtf8: boolean): ResponsePart {
  if (!isUtf8 && /[^\x01-\x7f]/.test(text)) throw new Error(`Not ASCII: ${JSON.stringify(text)}`)
  if (/[\0\r\n]/.test(text)) throw new Error(`Not on one line: ${JSON.stringify(text)}`)
  if (text.length <= 200) return `"${text.replace(/["\\]/g, '\\$&')}"`
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from(`{${bytes.length}}\r\n`), bytes])
}

export function bytesOf(parts: readonly ResponsePart[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}
