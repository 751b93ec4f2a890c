// Parses files: detects the format by the first bytes, then by type and name, and extracts the content.

import { isUtf8 } from 'node:buffer'
import { asBuffer, decodeCharset } from '../../mime/charset.ts'
import { listGzip, listTar, listZip } from './archive.ts'
import { readCalendar } from './calendar.ts'
import { type ExtractedContent, type FileToRead, UnpacksTooLarge } from './extracted-content.ts'
import { readImage, svgSize } from './image.ts'
import { readOffice } from './office.ts'
import { readHtmlText, readJson, readMessageFile, readTable, readText, readXmlText } from './plain.ts'
import { isTar } from './tar.ts'
import { readZip } from './zip.ts'

/** The outcome; `failed`: the format is supported, but the file is damaged. */
export type Extraction =
  | { status: 'parsed'; found: ExtractedContent }
  | { status: 'unsupported' | 'failed' | 'too_large' }

/** Never throws because of the content of a file. */
export function extract(file: FileToRead): Extraction {
  try {
    const found = readFile(file)
    return found === null ? { status: 'unsupported' } : { status: 'parsed', found }
  } catch (error) {
    return { status: error instanceof UnpacksTooLarge ? 'too_large' : 'failed' }
  }
}

function readFile(file: FileToRead): ExtractedContent | null {
  const { bytes, filename } = file
  const start = asBuffer(bytes).toString('latin1', 0, 8)
  if (/^PK(?:\x03\x04|\x05\x06)/.test(start)) {
    const zip = readZip(bytes)
    return readOffice(bytes, zip) ?? listZip(zip)
  }
  if (start.startsWith('\x1f\x8b')) return listGzip(bytes, filename)
  if (isTar(bytes)) return listTar(bytes)
  // These begin like text, but are not (PDF is read by pdf.ts).
  if (/^(?:%PDF-|\{\\rtf|%!PS)/.test(start)) return null
  const image = readImage(bytes)
  if (image !== null) return image
  return readByName(file)
}

const EXTENSIONS: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  jsonl: 'text/plain',
  geojson: 'application/json',
  xml: 'application/xml',
  svg: 'image/svg+xml',
  html: 'text/html',
  htm: 'text/html',
  ics: 'text/calendar',
  eml: 'message/rfc822',
  txt: 'text/plain',
  md: 'text/markdown',
  log: 'text/plain',
  yaml: 'text/plain',
  yml: 'text/plain',
  vcf: 'text/vcard',
}

function readByName({ bytes, filename, type, charset }: FileToRead): ExtractedContent | null {
  const extension = /\.([a-z0-9]{1,10})$/i.exec(filename)?.[1]?.toLowerCase() ?? ''
  const said = type.split(';', 1)[0]!.trim().toLowerCase()
  // For generic types the extension decides.
  const name = /^(?:application\/(?:octet-stream|x-.*|binary|unknown)|text\/plain|)$/.test(said)
    ? (EXTENSIONS[extension] ?? said)
    : said
  if (/^image\/(?!svg)|^(?:audio|video|font)\//.test(name)) return known(name)
  if (name === 'message/rfc822' || name === 'message/global') return readMessageFile(bytes)
  const isText = /^text\/|[/+](?:json|xml|x-ndjson|javascript|yaml|x-yaml|calendar|ics)$/.test(name)
  if (!isText && !looksLikeText(bytes)) return null
  return readByType(textOf(bytes, charset), name)
}

/** @throws Error for image types that readImage supports: the image is damaged */
function known(name: string): null {
  if (/^image\/(?:png|jpe?g|gif|webp|bmp|tiff|avif|heic|heif)$/.test(name)) throw new Error('The image cannot be read.')
  return null
}

function readByType(text: string, name: string): ExtractedContent | null {
  if (name === 'text/csv' || name === 'text/tab-separated-values') return readTable(text, name !== 'text/csv')
  if (/[/+]json$/.test(name)) return readJson(text)
  if (name === 'image/svg+xml') return svgSize(text) ?? readXmlText(text)
  if (name === 'text/html' || name === 'application/xhtml+xml') return readHtmlText(text)
  if (/[/+]xml$/.test(name)) return readXmlText(text)
  if (/calendar|[/]ics$/.test(name)) {
    const calendar = readCalendar(text)
    if (calendar === null) throw new Error('The calendar cannot be read.')
    return calendar
  }
  return readText(text, name.startsWith('text/') ? name.slice(5) : 'plain')
}

/** Whether the beginning consists of text characters. */
function looksLikeText(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, 4096)
  if (start.length === 0 || hasMark(bytes)) return start.length > 0
  return (
    !start.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27) || byte === 127) &&
    isUtf8(start.subarray(0, lastWhole(start)))
  )
}

/** End of the last complete UTF-8 character. */
function lastWhole(bytes: Uint8Array): number {
  let end = bytes.length
  while (end > bytes.length - 4 && end > 0 && (bytes[end - 1]! & 0xc0) === 0x80) end--
  return end > 0 && bytes[end - 1]! >= 0xc0 ? end - 1 : bytes.length
}

function hasMark(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
}

function textOf(bytes: Uint8Array, charset: string | null): string {
  const wide = hasMark(bytes) ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : charset
  const text = decodeCharset(bytes, wide).replace(/^\ufeff/, '')
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
}
