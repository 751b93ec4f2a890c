// Extracts the cells of ECMA-376 spreadsheets: a line per row, cells separated by tabs.

import { TextBuilder } from './text-builder.ts'
import { readXml, xmlAttribute } from './xml.ts'

/** Maximum columns: a cell may claim any reference. */
const COLUMNS_MAX = 1000
const STRINGS_MAX = 1_000_000

/** The shared strings, to which cells refer by index. */
export function sharedStrings(xml: string): string[] {
  const strings: string[] = []
  let current: TextBuilder | null = null
  let inText = false
  let phonetic = false
  readXml(xml, {
    open(name) {
      if (name === 'si') current = new TextBuilder()
      else if (name === 't') inText = true
      else if (name === 'rPh') phonetic = true
    },
    close(name) {
      if (name === 'si') strings.push(current?.toString() ?? '')
      else if (name === 't') inText = false
      else if (name === 'rPh') phonetic = false
    },
    text(text) {
      if (inText && !phonetic) current?.add(text)
      return strings.length < STRINGS_MAX
    },
  })
  return strings
}

/** @returns false when the text limit is reached */
export function sheetText(xml: string, strings: readonly string[], out: TextBuilder): boolean {
  let row: string[] = []
  let column = 0
  let type = ''
  let value = ''
  let inValue = false
  readXml(xml, {
    open(name, attributes) {
      if (name === 'row') row = []
      else if (name === 'c') {
        column = columnOf(xmlAttribute(attributes, 'r')) ?? row.length
        type = xmlAttribute(attributes, 't') ?? 'n'
        value = ''
      } else if (name === 'v' || name === 't') inValue = true
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false
      else if (name === 'c' && value !== '' && column < COLUMNS_MAX) {
        while (row.length < column) row.push('')
        row[column] = shown(
          type === 's' ? (strings[Number(value)] ?? '') : type === 'b' ? (value === '1' ? 'TRUE' : 'FALSE') : value,
        )
      } else if (name === 'row' && row.length > 0) out.add(`${row.join('\t')}\n`)
    },
    text(text) {
      if (inValue) value += text
      return !out.more
    },
  })
  return !out.more
}

function shown(text: string): string {
  return text.replace(/[\t\r\n]+/g, ' ')
}

/** Column of a reference such as "AB12", counted from 0. */
function columnOf(reference: string | null): number | null {
  const letters = /^([A-Z]{1,3})\d/.exec(reference ?? '')?.[1]
  if (letters === undefined) return null
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}
