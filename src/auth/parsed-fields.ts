// Signature fields as mailauth parses them, in linear time: its parsers take quadratic time for long white space, and for results.

import { Buffer } from 'node:buffer'
import mailauthArc from 'mailauth/lib/arc/index.js'
import type { ArcData } from 'mailauth/parts'
import type { HeaderRow } from './header-rows.ts'

const RESULTS = 'arc-authentication-results'
/** Characters of a field with the results of others: only the instance at its start counts (RFC 8617 §4.1.1). */
const RESULTS_MAX = 1024
const ARC_FIELDS: ReadonlySet<string | null> = new Set([RESULTS, 'arc-message-signature', 'arc-seal'])

/** A row as mailauth makes it. */
export interface ParsedRow {
  key: string | null
  /** The name as written. */
  casedKey: string
  line: Buffer
}

/** A field for a parser: around tags white space is ignored, and in values one is worth as much as several (RFC 6376 §3.2). */
export function parserLine({ key, text }: Pick<HeaderRow, 'key' | 'text'>): Buffer {
  const line = text.replace(/[ \t\r\n]+/g, ' ')
  return Buffer.from(key === RESULTS ? line.slice(0, RESULTS_MAX) : line, 'latin1')
}

/** The rows of a header, those of ARC for a parser. */
export function parserRows(rows: readonly HeaderRow[]): ParsedRow[] {
  return rows.map((row) => {
    const { key, name } = row
    return { key, casedKey: name, line: ARC_FIELDS.has(key) ? parserLine(row) : row.line }
  })
}

/** The sets of ARC fields. @throws Error for a chain that is not valid */
export function arcChain(rows: readonly HeaderRow[]): ArcData['chain'] {
  const parsed = rows
    .filter(({ key }) => ARC_FIELDS.has(key))
    .map((row) => ({ key: row.key, line: parserLine(row), whole: row }))
  const chain = mailauthArc.getARChain({ parsed }, { strict: true })
  if (chain === false) return false
  const whole = new Map(parsed.map(({ line, whole }) => [line, whole.line]))
  for (const set of chain) {
    // What is signed is the field as it was sent.
    for (const field of [set[RESULTS], set['arc-message-signature'], set['arc-seal']])
      field.original = whole.get(field.original)!
  }
  return chain
}
