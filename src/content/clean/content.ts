// Builds clean content from lines: without quoted history, signatures and invisible characters. Reads plain text only; HTML is read
// in clean.ts, which loads the style sheet parser.

import { type Extracted, extractFrom } from '../codes/extracted.ts'
import { hostOf, isHomoglyph } from './homoglyphs.ts'
import type { HtmlLines } from './html-lines.ts'
import { withoutInvisible, withoutWidthless } from './invisible.ts'
import {
  type CleanFormat,
  type ContentLink,
  LINES_MAX,
  LINKS_MAX,
  type Line,
  type LineLayout,
  type LinkStyle,
  plainLine,
  TARGET_MAX,
  TEXT_MAX,
  type TextSpan,
} from './line.ts'
import { writeMarkdown } from './markdown.ts'
import { ownLine } from './own-lines.ts'
import { classifyLines, type LineRole } from './split.ts'

export type { CleanFormat, ContentLink, LinkStyle } from './line.ts'

export const WARNINGS = [
  'hidden_text_removed',
  'remote_images_removed',
  'homoglyph_domain',
  'encoding_problem',
] as const
export type Warning = (typeof WARNINGS)[number]

/** The decoded bodies of a message; null when it has none. */
export interface CleanSource {
  text: string | null
  html: string | null
  /** The bodies are longer than what was read. */
  incomplete: boolean
  /** Domain of the From address, "" without one. */
  fromDomain: string
  /** The subject, where codes and links are extracted; nothing is extracted without it. */
  subject?: string
}

export interface CleanOptions {
  format: CleanFormat
  /** Maximum characters (Unicode code points) of each returned text. */
  chars: number
  includeQuoted: boolean
  includeSignature: boolean
  links: LinkStyle
}

export interface CleanContent {
  content: string
  truncated: boolean
  /** Code points of `content`. */
  charCount: number
  /** Removed parts, returned separately; null when there are none. */
  quoted: string | null
  signature: string | null
  links: ContentLink[]
  warnings: Warning[]
  /** Codes and links of the own text, whatever the options say. */
  extracted: Extracted[]
}

/** Text bodies that only refer to the HTML: some programs generate them. */
const STUB_MAX = 400
const STUB =
  /\b(?:html|browser|online version|webversion|web version|navigateur|navegador|view (?:it|this|the)|ansehen|anzeigen)\b/i

/** Whether the text is empty or may only refer to the HTML: then the HTML is compared with it. */
export function mayBeStub(text: string): boolean {
  const words = text.trim()
  return words === '' || (words.length <= STUB_MAX && STUB.test(words))
}

/** Clean content of lines. Deterministic, linear, never throws. */
export function contentOf(read: HtmlLines, source: CleanSource, options: CleanOptions): CleanContent {
  const hidden = { found: read.hidden }
  const lines = read.lines.map((line) => {
    const { text, hidden: found } = withoutInvisible(line.text)
    hidden.found ||= found
    const needsLayout = options.format === 'markdown' || source.subject !== undefined
    return { ...line, text, layout: needsLayout ? visibleLayout(line.layout) : line.layout }
  })
  const shares = classifyLines(lines)
  const own = () => lines.filter((_, at) => shares[at] === 'own').map(ownLine)
  const has = (share: LineRole) => shares.includes(share)
  const isShown = (share: LineRole) =>
    share === 'own' || (share === 'quoted' ? options.includeQuoted : options.includeSignature)
  const join = (wanted: (share: LineRole) => boolean) =>
    joined(
      lines.filter((_, at) => wanted(shares[at]!)),
      options.format,
    )
  const content = cut(join(isShown), options.chars)
  const apart = (share: LineRole) =>
    has(share) && !isShown(share)
      ? cut(
          join((one) => one === share),
          options.chars,
        ).text
      : null
  const links = read.links.map(({ text, url }) => ({ text: withoutInvisible(text).text, url }))
  return {
    content: content.text,
    truncated: content.truncated || source.incomplete || read.cut,
    charCount: content.count,
    quoted: apart('quoted'),
    signature: apart('signature'),
    links: options.links === 'list' ? links : [],
    warnings: warningsOf(source, read, hidden.found),
    extracted: source.subject === undefined ? [] : extractFrom(source.subject, own()),
  }
}

/** The lines of a text/plain body. */
export function textLines(text: string): HtmlLines {
  const all = text
    .slice(0, TEXT_MAX)
    .replace(/\r\n?/g, '\n')
    .split('\n', LINES_MAX + 1)
  const lines = all.slice(0, LINES_MAX).map((line) => plainLine(line === '-- ' ? line : line.trimEnd()))
  return {
    lines,
    links: textLinks(text),
    hidden: false,
    remoteImages: false,
    cut: text.length > TEXT_MAX || all.length > LINES_MAX,
    work: 0,
  }
}

/** The URLs in a plain text. */
function textLinks(text: string): ContentLink[] {
  const found = new Map<string, ContentLink>()
  for (const [match] of text.matchAll(/\bhttps?:\/\/[^\s<>"'\u0000-\u001f]{1,2048}/gi)) {
    const url = match.replace(/[.,;:!?)\]}'"*_]{1,20}$/, '')
    if (url.length <= TARGET_MAX) found.set(url, { text: url, url })
    if (found.size >= LINKS_MAX) break
  }
  return [...found.values()]
}

/** The lines in the requested format; consecutive empty lines are reduced to one. */
function joined(lines: readonly Line[], format: CleanFormat): string {
  if (format === 'markdown') return writeMarkdown(lines).toWellFormed()
  const out: string[] = []
  for (const { text } of lines) {
    if (text.trim() !== '') out.push(text)
    else if (out.length > 0 && out.at(-1) !== '') out.push('')
  }
  while (out.at(-1) === '') out.pop()
  return out.join('\n').toWellFormed()
}

/** The spans of a line without invisible characters. */
function visibleLayout(layout: LineLayout): LineLayout {
  if (layout.form === 'words') return { ...layout, spans: visibleSpans(layout.spans) }
  return layout.form === 'row' ? { ...layout, cells: layout.cells.map(visibleSpans) } : layout
}

function visibleSpans(spans: readonly TextSpan[]): TextSpan[] {
  const whole = spans.map(({ text }) => text).join('')
  const seen = spans.map((span) => ({ ...span, text: withoutInvisible(span.text).text }))
  // A run of invisible characters across spans is found only in the whole text.
  if (withoutInvisible(whole).text === seen.map(({ text }) => text).join('')) return seen
  return seen.map((span) => ({ ...span, text: withoutWidthless(span.text) }))
}

/** At most so many code points. */
function cut(text: string, chars: number): { text: string; truncated: boolean; count: number } {
  let end = 0
  let count = 0
  for (; count < chars && end < text.length; count++) end += text.codePointAt(end)! > 0xffff ? 2 : 1
  return { text: text.slice(0, end), truncated: end < text.length, count }
}

function warningsOf(source: CleanSource, read: HtmlLines, hidden: boolean): Warning[] {
  const hosts = new Set(read.links.map(({ url }) => hostOf(url)))
  const found: Record<Warning, boolean> = {
    hidden_text_removed: hidden,
    remote_images_removed: read.remoteImages,
    homoglyph_domain: isHomoglyph(source.fromDomain) || [...hosts].some((host) => host !== null && isHomoglyph(host)),
    encoding_problem: read.lines.some(({ text }) => text.includes('\ufffd')),
  }
  return WARNINGS.filter((warning) => found[warning])
}
