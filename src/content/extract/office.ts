// Extracts the text of office documents: XML in a ZIP archive, by ECMA-376 (Microsoft) and ISO 26300 (OpenDocument).

import { type ExtractedContent, extractedContent, type FileProperty, short, UNPACKED_MAX } from './extracted-content.ts'
import { odfText } from './odf.ts'
import { sharedStrings, sheetText } from './sheets.ts'
import { TextBuilder } from './text-builder.ts'
import { UnpackAllowance } from './unpack.ts'
import { runsText } from './word-text.ts'
import { readXml, xmlAttribute } from './xml.ts'
import { readMember, type Zip, type ZipMember } from './zip.ts'

/** Maximum slides or sheets read from a document. */
const PARTS_MAX = 500

/** ZIP members of a document by path, with a shared limit on expanded bytes. */
class Package {
  readonly #bytes: Uint8Array
  readonly #members: Map<string, ZipMember>
  readonly #allowance = new UnpackAllowance(UNPACKED_MAX)

  constructor(bytes: Uint8Array, { members }: Zip) {
    this.#bytes = bytes
    this.#members = new Map(members.map((member) => [member.path, member]))
  }

  has(path: string): boolean {
    return this.#members.has(path)
  }

  /** "" for a missing member. @throws UnpacksTooLarge, and an error for a damaged member */
  text(path: string): string {
    const member = this.#members.get(path)
    if (member === undefined) return ''
    const bytes = readMember(this.#bytes, member, this.#allowance)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  }

  /** Paths `folder/name<number>.xml`, in the order of their numbers. */
  numbered(start: string): string[] {
    const numberOf = (path: string) => Number(/(\d+)\.xml$/.exec(path)?.[1] ?? Number.NaN)
    return [...this.#members.keys()]
      .filter(
        (path) => path.startsWith(start) && !path.slice(start.length).includes('/') && !Number.isNaN(numberOf(path)),
      )
      .sort((one, other) => numberOf(one) - numberOf(other))
      .slice(0, PARTS_MAX)
  }
}

/** @returns null when the archive is not a supported document */
export function readOffice(bytes: Uint8Array, zip: Zip): ExtractedContent | null {
  const parts = new Package(bytes, zip)
  if (parts.has('word/document.xml')) return readWord(parts)
  if (parts.has('xl/workbook.xml')) return readWorkbook(parts)
  if (parts.has('ppt/presentation.xml')) return readSlides(parts)
  if (parts.has('content.xml') && parts.has('mimetype')) return readOpenDocument(parts)
  return null
}

function readWord(parts: Package): ExtractedContent {
  const text = new TextBuilder()
  for (const path of ['word/document.xml', 'word/footnotes.xml', 'word/endnotes.xml']) {
    if (!runsText(parts.text(path), text)) break
  }
  return extractedContent('text', {
    text: text.toString(),
    metadata: { format: 'docx', ...coreFacts(parts) },
    more: text.more,
  })
}

function readSlides(parts: Package): ExtractedContent {
  const text = new TextBuilder()
  const slides = parts.numbered('ppt/slides/slide')
  for (const [at, path] of slides.entries()) {
    if (!text.add(`${at === 0 ? '' : '\n'}[${at + 1}]\n`) || !runsText(parts.text(path), text)) break
  }
  const metadata = { format: 'pptx', slides: slides.length, ...coreFacts(parts) }
  return extractedContent('text', { text: text.toString(), metadata, more: text.more })
}

function readWorkbook(parts: Package): ExtractedContent {
  const names: string[] = []
  readXml(parts.text('xl/workbook.xml'), {
    open(name, attributes) {
      if (name === 'sheet' && names.length < PARTS_MAX) names.push(short(xmlAttribute(attributes, 'name') ?? ''))
    },
  })
  const strings = sharedStrings(parts.text('xl/sharedStrings.xml'))
  const text = new TextBuilder()
  for (const [at, path] of parts.numbered('xl/worksheets/sheet').entries()) {
    if (!text.add(`${at === 0 ? '' : '\n'}[${names[at] ?? at + 1}]\n`) || !sheetText(parts.text(path), strings, text))
      break
  }
  const metadata = { format: 'xlsx', sheets: names, ...coreFacts(parts) }
  return extractedContent('table', { text: text.toString(), metadata, more: text.more })
}

const OPEN_DOCUMENTS: Record<string, string> = { text: 'odt', spreadsheet: 'ods', presentation: 'odp', graphics: 'odg' }

function readOpenDocument(parts: Package): ExtractedContent | null {
  const kind = /^application\/vnd\.oasis\.opendocument\.([a-z]+)/.exec(parts.text('mimetype'))?.[1]
  if (kind === undefined) return null
  const text = new TextBuilder()
  odfText(parts.text('content.xml'), text)
  const metadata = { format: OPEN_DOCUMENTS[kind] ?? kind, ...factsOf(parts.text('meta.xml')) }
  return extractedContent(kind === 'spreadsheet' ? 'table' : 'text', {
    text: text.toString(),
    metadata,
    more: text.more,
  })
}

function coreFacts(parts: Package): Record<string, FileProperty> {
  return factsOf(parts.text('docProps/core.xml'))
}

/** Title and author (Dublin Core, in both formats). */
function factsOf(xml: string): Record<string, FileProperty> {
  const facts: Record<string, FileProperty> = { title: null, author: null }
  let inside = ''
  readXml(xml, {
    open: (name) => {
      inside = name
    },
    close: () => {
      inside = ''
    },
    text(text) {
      if (inside === 'dc:title') facts.title = short(text) || null
      if (inside === 'dc:creator') facts.author = short(text) || null
      return true
    },
  })
  return facts
}
