// Writes lines as Markdown (CommonMark 0.31, tables of GFM). Every text that comes from outside passes `escapeText`, `destination` or a
// fence that is longer than any run of backticks inside it: the output holds no markup but what is written here.

import { type Line, type SpanLink, TARGET_MAX, type TextSpan } from './line.ts'

/** Levels of `>` in plain text that become block quotations; renderers recurse into each. */
const QUOTE_DEPTH_MAX = 10
/** Columns of indentation that are kept. */
const INDENT_MAX = 40
const TAB_COLUMNS = 4
const NO_BREAK_SPACE = '\u00a0'

const QUOTE = new RegExp(`^(?: {0,3}>){1,${QUOTE_DEPTH_MAX}} ?`)

export function writeMarkdown(lines: readonly Line[]): string {
  const out = new BlockWriter()
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    if (line.layout.form !== 'code') {
      out.line(line)
      continue
    }
    let end = at + 1
    while (lines[end]?.layout.form === 'code' && lines[end]!.cited === line.cited) end++
    out.code(
      lines.slice(at, end).map(({ text }) => text),
      line.cited ? 1 : 0,
    )
    at = end - 1
  }
  return out.result()
}

class BlockWriter {
  readonly #out: string[] = []
  /** Depth of the block quotation that the last line stands in. */
  #depth = 0

  line(line: Line): void {
    const { depth, text } = written(line)
    if (text === '') {
      this.#blank()
      return
    }
    // Without an empty line between, a paragraph of the quotation would go on (CommonMark 5.1, laziness).
    if (depth < this.#depth) this.#blank()
    for (const each of text.split('\n')) this.#out.push('> '.repeat(depth) + each)
    this.#depth = depth
  }

  /** One fence around these lines: longer than any run of backticks in them (CommonMark 4.5). */
  code(lines: readonly string[], depth: number): void {
    const from = lines.findIndex((line) => line !== '')
    if (from < 0) {
      this.#blank()
      return
    }
    const shown = lines.slice(from, lines.findLastIndex((line) => line !== '') + 1)
    const longest = shown.reduce((most, line) => Math.max(most, longestRun(line)), 2)
    const fence = '`'.repeat(longest + 1)
    const quote = '> '.repeat(depth)
    if (depth < this.#depth) this.#blank()
    for (const line of [fence, ...shown, fence]) this.#out.push((quote + line).trimEnd())
    this.#depth = depth
  }

  result(): string {
    while (this.#out.at(-1) === '') this.#out.pop()
    return this.#out.join('\n')
  }

  #blank(): void {
    if (this.#out.length > 0 && this.#out.at(-1) !== '') this.#out.push('')
    this.#depth = 0
  }
}

function longestRun(line: string): number {
  return (line.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0)
}

function written({ layout, cited, asWritten }: Line): { depth: number; text: string } {
  const depth = cited ? 1 : 0
  if (layout.form === 'rule') return { depth, text: '---' }
  if (layout.form === 'row') return { depth, text: row(layout.cells, layout.isHead) }
  if (layout.form === 'code') return { depth, text: '' }
  const { mark, spans } = layout
  if (asWritten && mark === '') return arranged(spans, depth)
  const text = inline(spans).trim()
  return { depth, text: text === '' ? '' : mark + escapeStart(text) }
}

/** A line of plain text: its `>` are block quotations, its indentation is kept without making it code (CommonMark 4.4). */
function arranged(spans: readonly TextSpan[], depth: number): { depth: number; text: string } {
  const [first, ...others] = spans
  if (first === undefined) return { depth, text: '' }
  // ">From " is what mailboxes of the mbox format write for "From ".
  const quote = first.text.startsWith('>From ') ? '' : (QUOTE.exec(first.text)?.[0] ?? '')
  const rest = first.text.slice(quote.length)
  const space = /^[ \t]*/.exec(rest)![0]
  const text = inline([{ ...first, text: rest.slice(space.length) }, ...others]).trimEnd()
  const marks = quote.replaceAll(' ', '').length
  if (text === '') return { depth: depth + marks, text: '' }
  const columns = space.replaceAll('\t', ' '.repeat(TAB_COLUMNS)).length
  return {
    depth: depth + marks,
    text: NO_BREAK_SPACE.repeat(Math.min(columns, INDENT_MAX)) + escapeStart(text),
  }
}

/** A table's row; the first of a table with headings is followed by the line that makes it one. */
function row(cells: readonly (readonly TextSpan[])[], isHead: boolean): string {
  const line = `| ${cells.map((cell) => inline(cell).trim()).join(' | ')} |`
  return isHead ? `${line}\n| ${cells.map(() => '---').join(' | ')} |` : line
}

function inline(spans: readonly TextSpan[]): string {
  let out = ''
  for (let at = 0; at < spans.length; at++) {
    const { link } = spans[at]!
    if (link?.isInline !== true) {
      out += styled(spans[at]!, false)
      continue
    }
    let end = at + 1
    while (spans[end]?.link === link) end++
    out = withLink(out, spans.slice(at, end), link)
    at = end - 1
  }
  return out
}

function withLink(before: string, spans: readonly TextSpan[], { url }: SpanLink): string {
  const words = spans.map((span) => styled(span, true)).join('')
  if (words.trim() === '') return before + words
  // An exclamation mark before it would make it a picture.
  const safe = before.endsWith('!') ? `${before.slice(0, -1)}\\!` : before
  return `${safe}[${words}](${destination(url)})`
}

/** @param isLabel it stands between the brackets of a link, which may hold no other (CommonMark 6.3) */
function styled({ text, strong, emphasis, isTarget }: TextSpan, isLabel: boolean): string {
  if (isTarget) return ` <${encoded(text)}>`
  const words = isLabel ? escapeText(text) : escapeWithAddresses(text)
  if (words.trim() === '') return words
  const marks = (strong ? '**' : '') + (emphasis ? '_' : '')
  return marks + words + [...marks].reverse().join('')
}

/** Addresses that the text spells out. Their last characters may belong to the sentence. */
const ADDRESS = /(?:https?|ftp):\/\/[^\s<>"'\p{C}\p{Z}]{1,2048}/giu
/** Characters of the word an address stands in that are looked at; a longer one counts as special. */
const WORD_MAX = 2 * TARGET_MAX
const BEHIND_ADDRESS = /[.,;:!?)\]}*_]{1,20}$/

/**
 * Renderers that look for addresses read the escapes inside and behind one as part of it: in `https://a.test/\*` and everything after it
 * the escape would be lost. Such an address stands in angle brackets, where it ends (CommonMark 6.5).
 */
function escapeWithAddresses(text: string): string {
  let out = ''
  let last = 0
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = found.replace(BEHIND_ADDRESS, '')
    const end = index + address.length
    const word = text.slice(index, index + WORD_MAX).split(/\s/, 1)[0]!
    out += escapeText(text.slice(last, index)) + (hasSpecial(word) ? `<${address}>` : address)
    last = end
  }
  return out + escapeText(text.slice(last))
}

/**
 * Characters with a meaning inside a line, escaped (CommonMark 2.4); `_` inside a word and a single `~` have none. `<` is a reference:
 * it begins no element even where an escape is lost. `://` is escaped so that no renderer finds an address of an unknown scheme.
 */
function escapeText(text: string): string {
  return escapeSpecial(text).replace(/:(?=\/\/)/g, '\\:')
}

function escapeSpecial(text: string): string {
  return text
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\\`*[\]|]|~(?=~)|(?<=~)~|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
    .replace(/&(?=#?[A-Za-z0-9]{1,32};)/g, '\\&')
    .replaceAll('<', '&lt;')
}

function hasSpecial(word: string): boolean {
  return word.length === WORD_MAX || escapeSpecial(word) !== word || word.indexOf('://') !== word.lastIndexOf('://')
}

/** What a line may not begin with: headings, lists, quotations, rules, underlines of headings (CommonMark 4 and 5). */
function escapeStart(text: string): string {
  if (/^(?:>|[-=][-=\s]*$|(?:#{1,6}|[-+])(?:\s|$))/.test(text)) return `\\${text}`
  return text.replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2')
}

/** A link's target in parentheses (CommonMark 6.3), where references to characters count. */
function destination(url: string): string {
  return encoded(url).replace(/&(?=#?[A-Za-z0-9]{1,32};)/g, '\\&')
}

/** RFC 3986: what is no character of an address, or ends one in Markdown, as octets. */
function encoded(url: string): string {
  return url.toWellFormed().replace(/[\s\p{C}\p{Z}<>()[\]\\`"{}|^]/gu, (character) => {
    const octets = [...new TextEncoder().encode(character)]
    return octets.map((octet) => `%${octet.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  })
}
