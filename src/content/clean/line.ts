// A line of a message's text, what its markup says of it, and the bounds of what is read.

/** A link that is open or was closed: its words are the spans that refer to it. */
export interface SpanLink {
  url: string
  /** Whether its words carry the target in Markdown: `[words](target)`. */
  isInline: boolean
}

/** A piece of a line: words with one look, or the target of a link on its own. */
export interface TextSpan {
  text: string
  strong: boolean
  emphasis: boolean
  link: SpanLink | null
  /** `text` is the address of a link, shown behind its words. */
  isTarget: boolean
}

/** What a line is in Markdown. Nothing in it is Markdown yet: the writer escapes every span (markdown.ts). */
export type LineLayout =
  | { form: 'words'; mark: string; spans: readonly TextSpan[] }
  | { form: 'code' }
  | { form: 'rule' }
  | { form: 'row'; cells: readonly (readonly TextSpan[])[]; isHead: boolean }

export interface Line {
  /** As plain text, with the mark of a list item. */
  text: string
  layout: LineLayout
  /** The markup says that it was written in an earlier message. */
  quoted: boolean
  /** The markup says that it belongs to a signature. */
  signature: boolean
  /** It stands in a block quotation, which the author may have made. */
  cited: boolean
  /** White space counts: code, or preformatted text. */
  asWritten: boolean
}

export const PLAIN_SPAN = { strong: false, emphasis: false, link: null, isTarget: false } as const

/** A line of a text/plain body. */
export function plainLine(text: string): Line {
  const layout: LineLayout = { form: 'words', mark: '', spans: text === '' ? [] : [{ ...PLAIN_SPAN, text }] }
  return { text, layout, quoted: false, signature: false, cited: false, asWritten: true }
}

/** A link as it is shown: its words, and where it leads. */
export interface ContentLink {
  text: string
  url: string
}

/** How links are shown: behind their words, in a list of their own, or not at all. */
export type LinkStyle = 'inline' | 'list' | 'none'
export type CleanFormat = 'text' | 'markdown'

/** Characters and lines of a message that are read: more than any request may ask for. */
export const TEXT_MAX = 2 * 1024 * 1024
export const LINES_MAX = 100_000
/** Links that are listed for one message, and characters of a target. */
export const LINKS_MAX = 200
export const TARGET_MAX = 2048
