// Codes and links of a message that a program may wait for, from its subject and its own visible text.

import { findCodes } from './codes.ts'
import type { LinkKind } from './link-words.ts'
import { findLinks } from './links.ts'
import { narrowed, type OwnLine, type TextPosition } from './own-line.ts'

export interface Extracted extends TextPosition {
  kind: 'code' | LinkKind
  value: string
  confidence: 'high' | 'low'
  /** Several codes are equally likely. */
  isAmbiguous: boolean
  /** Of a link; null for codes. */
  host: string | null
  /** The words of a link name another host than the one it leads to. */
  isOtherHost: boolean
}

/** Extractions of one message. */
export const EXTRACTED_MAX = 10
/** Lines and characters of a line that are read. */
const LINES_MAX = 400
const LINE_MAX = 2000

/** @param own the own visible lines. Linear in the text, never throws. */
export function extractFrom(subject: string, own: readonly OwnLine[]): Extracted[] {
  const withText = own.filter(({ text }) => /\S/.test(text)).slice(0, LINES_MAX)
  const lines = [{ text: subject, links: [] }, ...withText].map(({ text, links }) => {
    return { text: narrowed(text.slice(0, LINE_MAX)), links: links.filter(({ start }) => start < LINE_MAX) }
  })
  const codes = findCodes(lines)
  const likely = codes.filter(({ confidence }) => confidence === 'high')
  const ofCodes = codes.map((code): Extracted => {
    const isAmbiguous = likely.length > 1 && code.confidence === 'high'
    return { kind: 'code', ...code, isAmbiguous, host: null, isOtherHost: false }
  })
  const ofLinks = findLinks(lines).map((link): Extracted => ({ ...link, isAmbiguous: false }))
  const rank = ({ confidence }: Extracted) => (confidence === 'high' ? 0 : 1)
  return [...ofCodes, ...ofLinks].toSorted((a, b) => rank(a) - rank(b)).slice(0, EXTRACTED_MAX)
}
