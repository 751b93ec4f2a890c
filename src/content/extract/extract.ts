// Looks into a file: what it is by its first bytes, else by its type and name; then what it says.

import { isUtf8 } from 'node:buffer'
import { asBuffer, decodeCharset } from '../../mime/charset.ts'
import { listGzip, listTar, listZip } from './archive.ts'
import { readCalendar } from './calendar.ts'
import { type FileToRead, type Found, UnpacksTooLarge } from './extracted.ts'
import { readImage, svgSize } from './image.ts'
import { readOffice } from './office.ts'
import { readHtmlText, readJson, readMail, readTable, readText, readXmlText } from './plain.ts'
import { isTar } from './tar.ts'
import { readZip } from './zip.ts'

/** What became of it; `failed` says that it is what it claims to be, but broken. */
export type Extraction = { status: 'parsed'; found: Found } | { status: 'unsupported' | 'failed' | 'too_large' }

/** Never throws for what a file holds. */
export function extract(file: FileToRead): Extraction {
  try {
    const found = look(file)
    return found === null ? { status: 'unsupported' } : { status: 'parsed', found }
  } catch (error) {
    return { status: error instanceof UnpacksTooLarge ? 'too_large' : 'failed' }
  }
}

function look(file: FileToRead): Found | null {
  const { bytes, filename } = file
  const start = asBuffer(bytes).toString('latin1', 0, 8)
  if (/^PK(?:\x03\x04|\x05\x06)/.test(start)) {
    const zip = readZip(bytes)
    return readOffice(bytes, zip) ?? listZip(zip)
  }
  if (start.startsWith('\x1f\x8b')) return listGzip(bytes, filename)
  if (isTar(bytes)) return listTar(bytes)
  // Their bytes begin like text, but are none (PDF is somebody else's work: see pdf.ts).
  if (/^(?:%PDF-|\{\\rtf|%!PS)/.test(start)) return null
  const image = readImage(bytes)
  if (image !== null) return image
  return lookByName(file)
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

function lookByName({ bytes, filename, type, charset }: FileToRead): Found | null {
  const extension = /\.([a-z0-9]{1,10})$/i.exec(filename)?.[1]?.toLowerCase() ?? ''
  const said = type.split(';', 1)[0]!.trim().toLowerCase()
  // What says nothing, or only "text", is named by its extension.
  const name = /^(?:application\/(?:octet-stream|x-.*|binary|unknown)|text\/plain|)$/.test(said)
    ? (EXTENSIONS[extension] ?? said)
    : said
  if (/^image\/(?!svg)|^(?:audio|video|font)\//.test(name)) return known(name)
  if (name === 'message/rfc822' || name === 'message/global') return readMail(bytes)
  const isText = /^text\/|[/+](?:json|xml|x-ndjson|javascript|yaml|x-yaml|calendar|ics)$/.test(name)
  if (!isText && !looksLikeText(bytes)) return null
  return readByType(textOf(bytes, charset), name)
}

/** A picture that no longer reads as one is broken. */
function known(name: string): null {
  if (/^image\/(?:png|jpe?g|gif|webp|bmp|tiff|avif|heic|heif)$/.test(name))
    throw new Error('The picture cannot be read.')
  return null
}

function readByType(text: string, name: string): Found | null {
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

/** Nothing but characters of text in its beginning. */
function looksLikeText(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, 4096)
  if (start.length === 0 || hasMark(bytes)) return start.length > 0
  return (
    !start.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27) || byte === 127) &&
    isUtf8(start.subarray(0, lastWhole(start)))
  )
}

/** Where the last character that is whole ends. */
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
