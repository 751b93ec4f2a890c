// A line of a mail's text, and what is known of it beside its words.

export interface Line {
  text: string
  /** The markup says that it was written in an earlier mail. */
  quoted: boolean
  /** The markup says that it belongs to a signature. */
  signature: boolean
  /** It stands in a block quotation, which the writer may have made himself. */
  cited: boolean
  /** White space counts: code, text somebody arranged. */
  asWritten: boolean
}

export function plainLine(text: string): Line {
  return { text, quoted: false, signature: false, cited: false, asWritten: true }
}

/** A link as it is shown: its words, and where it leads. */
export interface Link {
  text: string
  url: string
}

/** How links are shown: behind their words, in a list of their own, or not at all. */
export type LinkStyle = 'inline' | 'list' | 'none'
export type CleanFormat = 'text' | 'markdown'

/** Characters and lines of a mail that are looked at: more than anybody may ask for. */
export const TEXT_MAX = 2 * 1024 * 1024
export const LINES_MAX = 100_000
/** Links that are told of one mail, and characters of a target. */
export const LINKS_MAX = 200
export const TARGET_MAX = 2048
