// Renders the Markdown of docs/ as HTML: raw HTML in the source stays text, headings get anchors, links between files become links between pages.

import type { MarkdownIt, Token } from 'markdown-it'
import { escaped, Markup } from './markup.ts'

export interface Heading {
  level: number
  /** Plain text. */
  text: string
  /** The anchor, as GitHub makes it. */
  id: string
}

export interface RenderedDocument {
  /** Text of the first heading of level 1, which is not part of `body`. */
  title: string
  /** First paragraph as plain text. */
  summary: string
  headings: readonly Heading[]
  body: Markup
}

let renderer: Promise<MarkdownIt> | undefined

/** Loaded with the first page, because most appliances at rest never show one. */
async function openRenderer(): Promise<MarkdownIt> {
  const { default: Renderer } = await import('markdown-it')
  const md = new Renderer({ html: false, linkify: false, typographer: false })
  const { rules } = md.renderer
  rules.fence = (tokens, index) => codeBlock(tokens[index]!.content, tokens[index]!.info.trim())
  rules.image = (tokens, index) => pictureLink(tokens[index]!)
  // Wide tables scroll inside their own box; a box that scrolls must be reachable by keyboard, and have a name of its own.
  rules.table_open = (tokens, index) => {
    const number = tokens.slice(0, index + 1).filter(({ type }) => type === 'table_open').length
    return `<div class="table" role="region" aria-label="Table ${number}" tabindex="0"><table>\n`
  }
  rules.table_close = () => '</table></div>\n'
  return md
}

/** @param source Markdown that starts with a heading of level 1 */
export async function renderDocument(source: string): Promise<RenderedDocument> {
  renderer ??= openRenderer()
  const md = await renderer
  // Marks of scripts that write parts of a document stand on lines of their own.
  const tokens = md.parse(source.replace(/^<!-- .* -->$/gm, ''), {})
  const headings: Heading[] = []
  const taken = new Map<string, number>()
  tokens.forEach((token, index) => {
    if (token.type === 'inline') for (const child of token.children ?? []) mendLink(child)
    if (token.type !== 'heading_open') return
    const text = textOf(tokens, index + 1)
    const id = uniqueSlug(text, taken)
    token.attrSet('id', id)
    headings.push({ level: Number(token.tag.slice(1)), text, id })
  })
  const [title] = headings
  if (title?.level !== 1) throw new Error('A document starts with a heading of level 1.')
  const paragraph = tokens.findIndex(({ type }) => type === 'paragraph_open')
  // The title's three tokens are shown by the frame of the page.
  const html = md.renderer.render(tokens.slice(3), md.options, {})
  const body = new Markup(html.replace(/<(h[2-4]) id="([^"]+)">(.*?)<\/\1>/gs, anchored))
  return { title: title.text, summary: textOf(tokens, paragraph + 1), headings: headings.slice(1), body }
}

function anchored(_: string, tag: string, id: string, inner: string): string {
  return `<${tag} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></${tag}>`
}

/** Plain text of an inline token. */
function textOf(tokens: readonly Token[], index: number): string {
  return (tokens[index]?.children ?? []).map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
}

/** The rule of GitHub, so that the same link works in both places. */
function uniqueSlug(text: string, taken: Map<string, number>): string {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const times = taken.get(slug) ?? 0
  taken.set(slug, times + 1)
  return times === 0 ? slug : `${slug}-${times}`
}

/** `sending.md#bounces` is a file to a reader of the repository and a page here. */
function mendLink(token: Token): void {
  const href = token.type === 'link_open' ? String(token.attrGet('href')) : ''
  const [, name, anchor = ''] = /^([\w-]+)\.md(#[\w-]+)?$/.exec(href) ?? []
  if (name === undefined) return
  token.attrSet('href', (name === 'README' ? '/docs' : `/docs/${name}`) + anchor)
}

/** Pages load nothing but their stylesheet: a picture is a link with the words that describe it. */
function pictureLink(token: Token): string {
  const source = String(token.attrGet('src')).replace(/^images\//, '/docs/images/')
  return `<a href="${escaped(source)}">Picture: ${escaped(token.content)}</a>`
}

/** Comments of shell code are dimmed; nothing else is coloured. */
function codeBlock(content: string, language: string): string {
  const isShell = language === 'sh'
  const lines = content.trimEnd().split('\n').map(escaped)
  const shown = lines.map((line) => (isShell && line.startsWith('#') ? `<span class="comment">${line}</span>` : line))
  const kind = /^\w+$/.test(language) ? ` class="language-${language}"` : ''
  return `<pre tabindex="0"><code${kind}>${shown.join('\n')}\n</code></pre>\n`
}
