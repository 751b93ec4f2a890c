// Files that are text as they stand: tables, JSON, XML, HTML, mails, and everything else that reads as text.

import { htmlToText } from '../../html/visible-text.ts'
import { parseMail, partText } from '../../mime/parse.ts'
import { findPart } from '../../mime/structure.ts'
import { cleanContent } from '../clean/clean.ts'
import { type Found, found, short, TEXT_MAX } from './extracted.ts'
import { TextBuilder } from './text-builder.ts'
import { readXml } from './xml.ts'

export function readText(text: string, format: string): Found {
  return found('text', { text: text.slice(0, TEXT_MAX), metadata: { format }, more: text.length > TEXT_MAX })
}

/** Rows and columns are counted with quoted cells (RFC 4180); the text stays as it is. */
export function readTable(text: string, isTabs: boolean): Found {
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
  return found('table', { text: text.slice(0, TEXT_MAX), metadata, more: text.length > TEXT_MAX })
}

/** What stands most often in the first lines separates. */
function delimiterOf(start: string): string {
  const counts = [',', ';', '\t', '|'].map((mark) => [mark, start.split(mark).length] as const)
  return counts.reduce((most, each) => (each[1] > most[1] ? each : most))[0]
}

/** Characters of JSON that are parsed: what is longer needs more memory than there is. */
const JSON_MAX = 4_000_000

export function readJson(text: string): Found {
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

/** The words between the tags. */
export function readXmlText(xml: string): Found {
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
  return found('text', { text: out.toString(), metadata: { format: 'xml', root }, more: out.more })
}

/** What a reader would see of it. */
export function readHtmlText(html: string): Found {
  const { content, truncated, warnings } = cleanContent(
    { text: null, html, incomplete: false, fromDomain: '' },
    { format: 'text', chars: TEXT_MAX, includeQuoted: true, includeSignature: true, links: 'none' },
  )
  return found('text', { text: content, metadata: { format: 'html', warnings }, more: truncated })
}

const FILES_MAX = 100

/** A mail that came as a file. */
export function readMail(bytes: Uint8Array): Found {
  const mail = parseMail(bytes)
  const textOf = (id: string | null) => {
    const part = id === null || mail.structure === null ? undefined : findPart(mail.structure, id)
    return part ? partText(bytes, part, TEXT_MAX) : null
  }
  const text = textOf(mail.textPart) ?? htmlToText(textOf(mail.htmlPart) ?? '')
  const people = (list: readonly { email: string; name: string }[]) =>
    list.slice(0, FILES_MAX).map(({ email, name }) => short(name === '' ? email : `${name} <${email}>`))
  const metadata = {
    format: 'eml',
    subject: short(mail.subject, 1000),
    from: people(mail.from),
    to: people(mail.to),
    cc: people(mail.cc),
    date: mail.sentAt === null ? null : new Date(mail.sentAt).toISOString(),
    message_id: mail.messageId,
    attachments: mail.attachments
      .slice(0, FILES_MAX)
      .map(({ filename, contentType, sizeBytes }) => ({ filename, content_type: contentType, size_bytes: sizeBytes })),
  }
  return found('message', { text, metadata, more: text.length >= TEXT_MAX || mail.attachments.length > FILES_MAX })
}
