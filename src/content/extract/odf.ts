// Extracts the text of OpenDocument files: paragraphs as lines, table cells separated by tabs.

import type { TextBuilder } from './text-builder.ts'
import { readXml, xmlAttribute } from './xml.ts'

const SPACES_MAX = 100

/** Elements that are not part of the document text. */
const ASIDE = new Set([
  'office:annotation',
  'text:tracked-changes',
  'office:forms',
  'text:note-citation',
  'presentation:notes',
])

export function odfText(xml: string, out: TextBuilder): void {
  let aside = 0
  let paragraphs = 0
  let rows = 0
  let cells = 0
  let isFirst = true
  readXml(xml, {
    open(name, attributes) {
      if (ASIDE.has(name)) aside++
      if (aside > 0) return
      if (name === 'text:p' || name === 'text:h') {
        if (rows > 0 && !isFirst) out.add(' ')
        isFirst = false
        paragraphs++
      } else if (name === 'text:tab') out.add('\t')
      else if (name === 'text:line-break') out.add(rows > 0 ? ' ' : '\n')
      else if (name === 'text:s')
        out.add(' '.repeat(Math.min(Number(xmlAttribute(attributes, 'text:c') ?? 1) || 1, SPACES_MAX)))
      else if (name === 'table:table-row') {
        rows++
        cells = 0
      } else if (name === 'table:table-cell') {
        if (cells++ > 0) out.add('\t')
        isFirst = true
      }
    },
    close(name) {
      if (ASIDE.has(name)) aside = Math.max(0, aside - 1)
      if (aside > 0) return
      if (name === 'text:p' || name === 'text:h') {
        paragraphs = Math.max(0, paragraphs - 1)
        if (rows === 0) out.add('\n')
      } else if (name === 'table:table-row') {
        rows = Math.max(0, rows - 1)
        if (rows === 0) out.add('\n')
      }
    },
    text(text) {
      if (paragraphs > 0 && aside === 0) out.add(text.replace(/\s+/g, ' '))
      return !out.more
    },
  })
}
