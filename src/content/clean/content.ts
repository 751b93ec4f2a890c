// What a message says, from its lines: without quoted history, signatures and characters nobody sees. Reads plain text only; HTML is read
// in clean.ts, which loads what reads style sheets.

import { hostOf, isHomoglyph } from './homoglyphs.ts'
import type { HtmlLines } from './html-lines.ts'
import { withoutInvisible, withoutWidthless } from './invisible.ts'
import {
  type CleanFormat,
  type Layout,
  LINES_MAX,
  LINKS_MAX,
  type Line,
  type Link,
  type LinkStyle,
  plainLine,
  type Span,
  TARGET_MAX,
  TEXT_MAX,
} from './line.ts'
import { writeMarkdown } from './markdown.ts'
import { type Share, sharesOf } from './split.ts'

export type { CleanFormat, Link, LinkStyle } from './line.ts'

export const WARNINGS = [
  'hidden_text_removed',
  'remote_images_removed',
  'homoglyph_domain',
  'encoding_problem',
] as const
export type Warning = (typeof WARNINGS)[number]

/** The bodies of a mail, decoded; null where it has none. */
export interface CleanSource {
  text: string | null
  html: string | null
  /** The bodies go on behind what was read of them. */
  incomplete: boolean
  /** Domain of the From address, "" without one. */
  fromDomain: string
}

export interface CleanOptions {
  format: CleanFormat
  /** Characters (Unicode code points) of each text that is given. */
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
  /** What was cut and given apart; null where nothing was. */
  quoted: string | null
  signature: string | null
  links: Link[]
  warnings: Warning[]
}

/** Texts that tell people to look at the HTML: some programs put them where the text belongs. */
const STUB_MAX = 400
const STUB =
  /\b(?:html|browser|online version|webversion|web version|navigateur|navegador|view (?:it|this|the)|ansehen|anzeigen)\b/i

/** The text says nothing, or little more than where to find it: the HTML decides which of the two is read. */
export function mayBeStub(text: string): boolean {
  const words = text.trim()
  return words === '' || (words.length <= STUB_MAX && STUB.test(words))
}

/** The content of lines that were read. Deterministic, linear in them, never throws. */
export function contentOf(read: HtmlLines, source: CleanSource, options: CleanOptions): CleanContent {
  const hidden = { found: read.hidden }
  const lines = read.lines.map((line) => {
    const { text, hidden: found } = withoutInvisible(line.text)
    hidden.found ||= found
    return { ...line, text, layout: options.format === 'markdown' ? visibleLayout(line.layout) : line.layout }
  })
  const shares = sharesOf(lines)
  const has = (share: Share) => shares.includes(share)
  const isShown = (share: Share) =>
    share === 'own' || (share === 'quoted' ? options.includeQuoted : options.includeSignature)
  const join = (wanted: (share: Share) => boolean) =>
    joined(
      lines.filter((_, at) => wanted(shares[at]!)),
      options.format,
    )
  const content = cut(join(isShown), options.chars)
  const apart = (share: Share) =>
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

/** The addresses a plain text spells out. */
function textLinks(text: string): Link[] {
  const found = new Map<string, Link>()
  for (const [match] of text.matchAll(/\bhttps?:\/\/[^\s<>"'\u0000-\u001f]{1,2048}/gi)) {
    const url = match.replace(/[.,;:!?)\]}'"*_]{1,20}$/, '')
    if (url.length <= TARGET_MAX) found.set(url, { text: url, url })
    if (found.size >= LINKS_MAX) break
  }
  return [...found.values()]
}

/** The lines in the format that is asked for; of several empty ones one is left. */
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

/** The spans of a line without what nobody sees. */
function visibleLayout(layout: Layout): Layout {
  if (layout.form === 'words') return { ...layout, spans: visibleSpans(layout.spans) }
  return layout.form === 'row' ? { ...layout, cells: layout.cells.map(visibleSpans) } : layout
}

function visibleSpans(spans: readonly Span[]): Span[] {
  const whole = spans.map(({ text }) => text).join('')
  const seen = spans.map((span) => ({ ...span, text: withoutInvisible(span.text).text }))
  // A run that crosses from one span into the next shows only in the whole.
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
