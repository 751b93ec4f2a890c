// Clean Markdown as simple HTML, for quotations: paragraphs, lists, emphasis, links and quotations, nothing else.

import type { MarkdownIt } from 'markdown-it'

/** Deeper nesting is shown as text. */
const NESTING_MAX = 20
const LINK = /^(?:https?:\/\/|mailto:)/i

let renderer: Promise<MarkdownIt> | undefined

/** Loaded with the first quotation. */
async function openRenderer(): Promise<MarkdownIt> {
  const { default: Renderer } = await import('markdown-it')
  const md = new Renderer({ html: false, linkify: false, typographer: false, breaks: true, maxNesting: NESTING_MAX })
  md.validateLink = (url) => LINK.test(url)
  return md.disable(['image', 'html_block', 'html_inline'])
}

/**
 * @param markdown as `content.ts` writes it. Every text in it is escaped, and raw HTML is not rendered: the result has no markup that the
 *   message brought along.
 */
export async function simpleHtml(markdown: string): Promise<string> {
  renderer ??= openRenderer()
  const md = await renderer
  return md.render(markdown)
}
