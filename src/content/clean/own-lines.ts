// Own lines of a message for the extraction of codes and links: without the targets that an option writes into the text.

import type { OwnLine, OwnLink } from '../codes/own-line.ts'
import { type Line, type SpanLink, TARGET_MAX, type TextSpan } from './line.ts'

/** Links of one line. */
const LINKS_MAX = 50

export function ownLine({ text, layout }: Line): OwnLine {
  if (layout.form === 'row') return joined(layout.cells)
  return layout.form === 'words' ? joined([layout.spans]) : { text, links: bareLinks(text) }
}

/** URLs in the words of a line. */
function bareLinks(text: string): OwnLink[] {
  const found = text.matchAll(/\bhttps?:\/\/[^\s<>"'\u0000-\u001f]{1,2048}/gi)
  return [...found.take(LINKS_MAX)].map(({ 0: match, index: start }) => {
    const url = match.replace(/[.,;:!?)\]}'"*_]{1,20}$/, '')
    return { text: url, url, start }
  })
}

function joined(cells: readonly (readonly TextSpan[])[]): OwnLine {
  let text = ''
  const links = new Map<SpanLink, OwnLink>()
  for (const [at, cell] of cells.entries()) {
    if (at > 0) text += ' | '
    for (const { text: words, link, isTarget } of cell) {
      if (isTarget) continue
      if (link !== null && link.url.length <= TARGET_MAX) {
        const known = links.get(link)
        if (known !== undefined) known.text += words
        else if (links.size < LINKS_MAX) links.set(link, { text: words, url: link.url, start: text.length })
      }
      text += words
    }
  }
  const marked = [...links.values()]
  const isInside = (start: number) =>
    marked.some((link) => link.start <= start && start < link.start + link.text.length)
  return { text, links: [...marked, ...bareLinks(text).filter(({ start }) => !isInside(start))] }
}
