// Clean content of a message, from its text or HTML body.

import { type CleanContent, type CleanOptions, type CleanSource, contentOf, mayBeStub, textLines } from './content.ts'
import { type HtmlLines, htmlLines } from './html-lines.ts'

export type { CleanContent, CleanOptions, CleanSource } from './content.ts'

/** Deterministic, linear in the source, never throws. */
export function cleanContent(source: CleanSource, options: CleanOptions): CleanContent {
  const { text, html } = source
  const isHtmlAsked = html !== null && (text === null || mayBeStub(text))
  const read = isHtmlAsked ? htmlLines(html, options.format, options.links) : null
  const useHtml = read !== null && (text === null || isStub(text, read))
  return contentOf(useHtml ? read : textLines(text ?? ''), source, options)
}

/** Whether the text is only a stub: the HTML is much longer. */
function isStub(text: string, html: HtmlLines): boolean {
  const words = text.trim()
  if (words === '') return true
  const length = html.lines.reduce((sum, line) => sum + line.text.length, 0)
  return length > words.length * 3
}
