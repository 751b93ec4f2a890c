// Writes a plain text as HTML: its lines as they are, links, quotations folded.

import { escapeHtml } from '../../html/escape.ts'
import { LINES_MAX, plainLine } from '../clean/line.ts'
import { classifyLines } from '../clean/split.ts'
import { Folds } from './folds.ts'
import { linkAddress, type ViewLinks } from './view-links.ts'

const LINK = /\b(?:https?:\/\/[^\s<>"'\u0000-\u001f]{1,2048}|[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}\b)/gi
/** Marks behind an address that belong to the sentence. */
const SENTENCE_END = /[.,;:!?)\]}'"*_]{1,20}$/

/** @returns `isCut` when there are more lines than are shown */
export function writeText(
  text: string,
  links: ViewLinks,
  isQuoteOpen: boolean,
): { body: string; hasQuote: boolean; isCut: boolean } {
  const all = text.replace(/\r\n?/g, '\n').split('\n', LINES_MAX + 1)
  const lines = all.slice(0, LINES_MAX)
  const roles = classifyLines(lines.map((line) => plainLine(line)))
  const folds = new Folds(isQuoteOpen)
  let inQuote = false
  for (const [at, line] of lines.entries()) {
    const isQuoted = roles[at] === 'quoted'
    if (isQuoted && !inQuote) folds.open()
    if (!isQuoted && inQuote) folds.end(Folds.END)
    inQuote = isQuoted
    folds.text(`${linked(line, links)}\n`, line)
  }
  if (inQuote) folds.end(Folds.END)
  const { body, hasQuote } = folds.result()
  return { body: `<div class="mailstead-text" dir="auto">${body}</div>`, hasQuote, isCut: all.length > LINES_MAX }
}

function linked(line: string, links: ViewLinks): string {
  let html = ''
  let at = 0
  for (const { 0: match, index } of line.matchAll(LINK)) {
    const shown = match.replace(SENTENCE_END, '')
    const href = linkAddress(shown.includes('://') ? shown : `mailto:${shown}`)
    const link = href === null ? null : links.open(href)
    if (href === null || link === null) continue
    links.add(link, shown)
    links.close(link)
    html +=
      escapeHtml(line.slice(at, index)) +
      `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer nofollow" data-link="${link.n}">${escapeHtml(shown)}</a>`
    at = index + shown.length
  }
  return html + escapeHtml(line.slice(at))
}
