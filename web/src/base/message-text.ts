// The text of a message in pieces: paragraphs, links, and quotations that can be folded.

export type TextPiece = { kind: 'text'; text: string } | { kind: 'link'; text: string; href: string }

/** Lines that belong together: written here, or quoted from an earlier message. */
export interface TextBlock {
  isQuoted: boolean
  lines: string[]
}

const QUOTED = /^\s*>/
/** The line that mail programs put above a quotation, in the languages whose form ends in a colon. */
const INTRODUCTION = /^.{4,200}(?:wrote|schrieb|a écrit|escribió|scrisse|schreef)\s?:\s*$/
const LINK = /\b(?:https?:\/\/|www\.)[^\s<>"'`{}|\\^]+|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g
/** What ends a sentence and not an address. */
const TRAILING = /[.,;:!?'")\]]+$/

/** Blocks of a text: the quotation with the line that introduces it. */
export function blocksOf(text: string): TextBlock[] {
  const lines = text.replaceAll('\r\n', '\n').trimEnd().split('\n')
  const blocks: TextBlock[] = []
  for (const [index, line] of lines.entries()) {
    const following = lines.slice(index + 1, index + 3).find((next) => next.trim() !== '')
    const isIntroduction = INTRODUCTION.test(line) && following !== undefined && QUOTED.test(following)
    const last = blocks.at(-1)
    const isBlank = line.trim() === '' && last?.isQuoted === true
    const isQuoted = QUOTED.test(line) || isIntroduction || isBlank
    if (last?.isQuoted === isQuoted) last.lines.push(line)
    else blocks.push({ isQuoted, lines: [line] })
  }
  return blocks
}

/** A line with its links. */
export function piecesOf(line: string): TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  for (const match of line.matchAll(LINK)) {
    const text = match[0].replace(TRAILING, '')
    if (match.index > end) pieces.push({ kind: 'text', text: line.slice(end, match.index) })
    pieces.push({ kind: 'link', text, href: hrefOf(text) })
    end = match.index + text.length
  }
  if (end < line.length) pieces.push({ kind: 'text', text: line.slice(end) })
  return pieces
}

function hrefOf(text: string): string {
  if (/^https?:/.test(text)) return text
  return text.includes('@') && !text.startsWith('www.') ? `mailto:${text}` : `https://${text}`
}
