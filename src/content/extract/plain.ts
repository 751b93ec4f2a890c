// Parses text files: CSV, JSON, XML, HTML, messages and other plain text.

import { htmlToText } from '../../html/visible-text.ts'
import { parseMessage, partText } from '../../mime/parse.ts'
import { findPart } from '../../mime/structure.ts'
import { cleanContent } from '../clean/clean.ts'
import { type ExtractedContent, extractedContent, short, TEXT_MAX } from './extracted-content.ts'
import { TextBuilder } from './text-builder.ts'
import { readXml } from './xml.ts'

export function readText(text: string, format: string): ExtractedContent {
  return extractedContent('text', { text: text.slice(0, TEXT_MAX), metadata: { format }, more: text.length > TEXT_MAX })
}

/** Rows and columns are counted with quoted cells (RFC 4180); the text is unchanged. */
export function readTable(text: string, isTabs: boolean): ExtractedContent {
  const delimiter = isTabs ? '\t' : delimiterOf(text.slice(0, 10_000))
  let rows = 0
  let columns = 0
  let cells = 1
  let quoted = false
  let blank = true
  const endRow = () => {
    if (!blank) {
      rows++
      columns = Math.max(columns, cells)
    }
    cells = 1
    blank = true
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') quoted = !quoted
    else if (!quoted && character === '\n') {
      endRow()
      continue
    } else if (!quoted && character === delimiter) cells++
    if (character !== '\r') blank = false
  }
  endRow()
  const metadata = { format: isTabs ? 'tsv' : 'csv', delimiter, rows, columns }
  return extractedContent('table', { text: text.slice(0, TEXT_MAX), metadata, more: text.length > TEXT_MAX })
}

/** The most frequent candidate in the first lines. */
function delimiterOf(start: string): string {
  const counts = [',', ';', '\t', '|'].map((mark) => [mark, start.split(mark).length] as const)
  return counts.reduce((most, each) => (each[1] > most[1] ? each : most))[0]
}

/** Longer JSON is not parsed, to limit memory. */
const JSON_MAX = 4_000_000

export function readJson(text: string): ExtractedContent {
  if (text.length > JSON_MAX) {
    return { ...readText(text, 'json'), metadata: { format: 'json', valid: null, type: null, members: null } }
  }
  let value: unknown
  let valid = true
  try {
    value = JSON.parse(text)
  } catch {
    valid = false
  }
  const type = !valid ? null : Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
  const members = typeof value === 'object' && value !== null ? Object.keys(value).length : null
  return { ...readText(text, 'json'), metadata: { format: 'json', valid, type, members } }
}

/** Extracts the text between the tags. */
export function readXmlText(xml: string): ExtractedContent {
  const out = new TextBuilder()
  let root: string | null = null
  readXml(xml, {
    open(name) {
      root ??= short(name, 100)
    },
    text(text) {
      const words = text.trim()
      return words === '' || out.add(`${words}\n`)
    },
  })
  return extractedContent('text', { text: out.toString(), metadata: { format: 'xml', root }, more: out.more })
}

/** Extracts the visible text. */
export function readHtmlText(html: string): ExtractedContent {
  const { content, truncated, warnings } = cleanContent(
    { text: null, html, incomplete: false, fromDomain: '' },
    { format: 'text', chars: TEXT_MAX, includeQuoted: true, includeSignature: true, links: 'none' },
  )
  return extractedContent('text', { text: content, metadata: { format: 'html', warnings }, more: truncated })
}

const FILES_MAX = 100

/** Parses a message in a file (message/rfc822). */
export function readMessageFile(bytes: Uint8Array): ExtractedContent {
  const message = parseMessage(bytes)
  const textOf = (id: string | null) => {
    const part = id === null || message.structure === null ? undefined : findPart(message.structure, id)
    return part ? partText(bytes, part, TEXT_MAX) : null
  }
  const text = textOf(message.textPart) ?? htmlToText(textOf(message.htmlPart) ?? '')
  const people = (list: readonly { email: string; name: string }[]) =>
    list.slice(0, FILES_MAX).map(({ email, name }) => short(name === '' ? email : `${name} <${email}>`))
  const metadata = {
    format: 'eml',
    subject: short(message.subject, 1000),
    from: people(message.from),
    to: people(message.to),
    cc: people(message.cc),
    date: message.sentAt === null ? null : new Date(message.sentAt).toISOString(),
    message_id: message.messageId,
    attachments: message.attachments
      .slice(0, FILES_MAX)
      .map(({ filename, contentType, sizeBytes }) => ({ filename, content_type: contentType, size_bytes: sizeBytes })),
  }
  return extractedContent('message', {
    text,
    metadata,
    more: text.length >= TEXT_MAX || message.attachments.length > FILES_MAX,
  })
}
