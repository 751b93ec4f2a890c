// Reads from a message, once, what the facts and the features of the spam score are made of: visible text, links, form of the HTML.

import { decodeEntities } from '../html/entities.ts'
import { type MessageLink, textLinks } from '../html/links.ts'
import { attribute, readHtml } from '../html/tokens.ts'
import { htmlToText } from '../html/visible-text.ts'
import { decodeBody } from '../mime/decode.ts'
import type { ParsedMessage } from '../mime/message.ts'
import { partText } from '../mime/parse.ts'
import { findPart } from '../mime/structure.ts'

/** Characters of HTML and of visible text that are read, and links. */
const HTML_READ_MAX = 128 * 1024
const TEXT_READ_MAX = 32 * 1024
const LINKS_READ_MAX = 200
/** Characters of the visible text of a link and of its target. */
const LABEL_MAX = 300
const TARGET_MAX = 2048
/** Attachments that are looked at, and encoded bytes at the beginning of each. */
const ARCHIVES_READ_MAX = 10
const ARCHIVE_READ_BYTES = 64
/** "PK\3\4" of the first file. */
const ZIP_SIGNATURE = 0x504b0304

/** A link of the HTML body. */
export interface SpamLink extends MessageLink {
  /** The target as written, without white space; at most 2,048 characters. */
  target: string
}

/** How an HTML body is made. */
export interface HtmlForm {
  links: SpamLink[]
  images: number
  remoteImages: number
  forms: number
  passwords: number
  scripts: number
  frames: number
  refreshes: number
  /** Characters of text between tags, visible or not. */
  textLength: number
}

/** The parts of a message that facts and features read. */
export interface SpamMaterial {
  message: ParsedMessage
  /** The text as a mail program displays it: of the HTML body where there is one. */
  text: string
  html: HtmlForm | null
  links: SpamLink[]
  /** Names of attached archives that need a password. */
  encrypted: string[]
}

/** Never throws; linear in the bounded parts that are read. */
export function readMaterial(bytes: Uint8Array, message: ParsedMessage): SpamMaterial {
  const source = htmlOf(bytes, message)
  const html = source === null ? null : formOf(source)
  const isSearched = source === null || message.textPart === null
  const encrypted = encryptedArchives(bytes, message)
  const text = (isSearched ? message.searchText : htmlToText(source)).slice(0, TEXT_READ_MAX)
  return { message, text, html, links: html === null ? plainLinks(text) : html.links, encrypted }
}

/** ZIP archives whose first file is encrypted (APPNOTE.TXT §4.4.4, bit 0 of the flags behind the signature). */
function encryptedArchives(bytes: Uint8Array, { structure, attachments }: ParsedMessage): string[] {
  return attachments.slice(0, ARCHIVES_READ_MAX).flatMap(({ partId, filename, contentType }) => {
    if (!/\.zip$/i.test(filename) && !/^application\/(?:x-)?zip/.test(contentType)) return []
    const part = structure === null ? undefined : findPart(structure, partId)
    if (part === undefined) return []
    const start = bytes.subarray(part.bodyStart, Math.min(part.bodyEnd, part.bodyStart + ARCHIVE_READ_BYTES))
    const head = Buffer.from(decodeBody(start, part.encoding))
    return head.length >= 8 && head.readUInt32BE(0) === ZIP_SIGNATURE && (head[6]! & 1) === 1 ? [filename] : []
  })
}

function htmlOf(bytes: Uint8Array, { structure, htmlPart }: ParsedMessage): string | null {
  if (structure === null || htmlPart === null) return null
  const part = findPart(structure, htmlPart)
  return part === undefined ? null : partText(bytes, part, HTML_READ_MAX)
}

function plainLinks(text: string): SpamLink[] {
  return textLinks(text)
    .slice(0, LINKS_READ_MAX)
    .map((link) => ({ ...link, target: `http://${link.host}/` }))
}

function formOf(html: string): HtmlForm {
  const reader = new FormReader()
  readHtml(html, reader)
  return reader.form
}

/** Counts what the facts look at; hidden text is the difference between `textLength` and the visible text. */
class FormReader {
  readonly form: HtmlForm = {
    links: [],
    ...{ images: 0, remoteImages: 0, forms: 0, passwords: 0, scripts: 0, frames: 0, refreshes: 0, textLength: 0 },
  }
  #link: SpamLink | null = null

  text(raw: string): boolean {
    this.form.textLength += raw.trim().length
    if (this.#link && this.#link.label.length < LABEL_MAX) this.#link.label += decodeEntities(raw.slice(0, LABEL_MAX))
    return true
  }

  open(tag: string, attributes: string): void {
    const { form } = this
    if (tag === 'a' || tag === 'area') this.#openLink(attributes)
    else if (tag === 'img') {
      form.images++
      if (/^\s*(?:https?:)?\/\//i.test(attribute(attributes, 'src') ?? '')) form.remoteImages++
    } else if (tag === 'form') form.forms++
    else if (tag === 'input' && /^password$/i.test(attribute(attributes, 'type') ?? '')) form.passwords++
    else if (tag === 'script') form.scripts++
    else if (tag === 'iframe' || tag === 'object' || tag === 'embed') form.frames++
    else if (tag === 'meta' && /^refresh$/i.test(attribute(attributes, 'http-equiv') ?? '')) form.refreshes++
  }

  close(tag: string): void {
    if (tag === 'a') this.#link = null
  }

  #openLink(attributes: string): void {
    this.#link = null
    if (this.form.links.length >= LINKS_READ_MAX) return
    const target = decodeEntities((attribute(attributes, 'href') ?? '').slice(0, TARGET_MAX)).replace(/\s+/g, '')
    const host = /^https?:/i.test(target) ? (URL.parse(target)?.hostname ?? '') : ''
    if (host === '') return
    this.#link = { host, target, label: '' }
    this.form.links.push(this.#link)
  }
}
