// The document of a message for a sandboxed frame: its HTML or text, rewritten, and what is known of it (docs/design/webmail.md §1).

import { StyleSheet } from '../../html/css/style-sheet.ts'
import { decodeEntities } from '../../html/entities.ts'
import { attribute, readHtml } from '../../html/tokens.ts'
import { HtmlWriter } from './html-writer.ts'
import { Pictures } from './pictures.ts'
import { StyleRewriter, type Theme } from './styles.ts'
import { writeText } from './text-writer.ts'
import {
  VIEW_MAX,
  VIEW_WHOLE_MAX,
  type ViewDocument,
  type ViewOptions,
  type ViewSource,
  type ViewTheme,
} from './view.ts'
import { ViewLinks } from './view-links.ts'

const HAS_DARK = /prefers-color-scheme\s*:\s*dark|light-dark\(/i

/** Linear in the source; never throws because of it. */
export function viewDocument(source: ViewSource, options: ViewOptions): ViewDocument {
  const most = options.isWhole ? VIEW_WHOLE_MAX : VIEW_MAX
  const links = new ViewLinks()
  const pictures = new Pictures({
    own: (contentId) => {
      const id = source.files.get(contentId)
      return id === undefined ? null : `../../attachments/${id}/content?disposition=inline`
    },
    remote: options.withPictures ? (n) => `images/${n}${options.isWhole ? '?whole=true' : ''}` : null,
  })
  if (source.html !== null) return htmlDocument(source, source.html.slice(0, most), { links, pictures, options })
  const text = (source.text ?? '').slice(0, most)
  const written = writeText(text, links, options.isQuoteOpen)
  const isCut = written.isCut || source.incomplete || text.length < (source.text ?? '').length
  return {
    html: page(written.body, '', 'plain', options.theme),
    facts: {
      kind: text.trim() === '' ? 'none' : 'text',
      ...{ clipped: isCut, theme: 'plain', hasQuote: written.hasQuote, hiddenChars: 0, links: links.list },
      pictures: { count: 0, hosts: [], trackers: [] },
    },
    pictures: [],
  }
}

interface Parts {
  links: ViewLinks
  pictures: Pictures
  options: ViewOptions
}

function htmlDocument(source: ViewSource, html: string, { links, pictures, options }: Parts): ViewDocument {
  const { css, sheet } = readSheets(html)
  const isAware = css.some(({ text }) => HAS_DARK.test(text))
  // A message made for a light page stays light; one without colors has no rules that depend on it.
  const theme = isAware ? options.theme : 'light'
  const picture = (url: string) => {
    const use = pictures.use(url, false)
    return 'address' in use ? use.address : null
  }
  const styles = new StyleRewriter({ theme, picture })
  const sheets = css.map(({ text, media }) => styles.sheet(text, media)).join('\n')
  const writer = new HtmlWriter({ sheet, styles, pictures, links, isQuoteOpen: options.isQuoteOpen })
  readHtml(html, writer)
  const { body, hasQuote } = writer.result()
  const look: ViewTheme = isAware ? 'aware' : styles.hasColors ? 'designed' : 'plain'
  return {
    html: page(body, sheets, look, options.theme),
    facts: {
      kind: 'html',
      clipped: writer.isCut || styles.isCut || source.incomplete || html.length < source.html!.length,
      theme: look,
      hasQuote,
      hiddenChars: writer.hiddenChars,
      pictures: { count: pictures.count, hosts: pictures.hosts, trackers: pictures.trackers },
      links: links.list,
    },
    pictures: pictures.addresses,
  }
}

/** The style sheets as text, and as rules that say what is visible. */
function readSheets(html: string): { css: { text: string; media: string | null }[]; sheet: StyleSheet } {
  const css: { text: string; media: string | null }[] = []
  const sheet = new StyleSheet()
  let media: string | null = null
  readHtml(html, {
    text: () => true,
    open(tag, attributes) {
      if (tag === 'style') media = decodeEntities(attribute(attributes, 'media') ?? '').trim() || null
    },
    close() {},
    raw(tag, content) {
      if (tag !== 'style') return
      css.push({ text: content, media })
      sheet.add(content)
    },
  })
  sheet.finish(html)
  return { css, sheet }
}

const BASE_STYLE =
  'html{height:auto;overflow-wrap:break-word}body{margin:0;padding:0;font:15px/1.5 system-ui,sans-serif;color:CanvasText}' +
  'img{max-width:100%}a{color:LinkText}.mailstead-text{white-space:pre-wrap}' +
  '.mailstead-quotation>summary{cursor:pointer;list-style:none;display:inline-block;padding:0 8px;border-radius:4px;' +
  'color:GrayText;background:color-mix(in srgb,CanvasText 10%,transparent)}.mailstead-quotation>summary::-webkit-details-marker{display:none}'

/** A message without colors lies on the page of the reader, one made for light pages on paper. */
function page(body: string, sheets: string, look: ViewTheme, theme: Theme): string {
  const scheme = look === 'designed' ? 'light' : theme
  const ground = look === 'plain' ? 'transparent' : look === 'designed' ? '#fff' : 'Canvas'
  return (
    `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title></title>` +
    `<style>:root{color-scheme:${scheme}}body{background:${ground}}${BASE_STYLE}</style>` +
    `${sheets.trim() === '' ? '' : `<style>${sheets}</style>`}</head><body>${body}</body></html>`
  )
}
