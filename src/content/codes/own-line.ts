// A line of a message's own visible text, as the extraction of codes and links reads it.

/** A link inside a line. */
export interface OwnLink {
  /** Its words; the URL itself where it stands bare. */
  text: string
  url: string
  /** Where it begins in the line, in code units. */
  start: number
}

export interface OwnLine {
  /** Without targets of links. */
  text: string
  links: OwnLink[]
}

/** Where a value stood in a message. */
export interface TextPosition {
  part: 'subject' | 'text'
  /** Number of the line among those with text, from 1; 0 for the subject. */
  line: number
  /** At most SENTENCE_MAX code points. The sender wrote it. */
  sentence: string
}

const SENTENCE_MAX = 200

/** The sentence of a line that includes a position. */
export function sentenceAt(line: string, at: number): { text: string; start: number } {
  let start = 0
  let end = line.length
  for (const { index, 0: mark } of line.matchAll(/[.!?](?=\s)|[。！？]/g)) {
    const next = index + mark.length
    if (next <= at) start = next
    else {
      end = next
      break
    }
  }
  return { text: line.slice(start, end), start }
}

/** The sentence as it is returned. */
export function shownSentence(line: string, at: number): string {
  const { text, start } = sentenceAt(line, at)
  const from = Math.max(0, at - start - SENTENCE_MAX / 2)
  const points = [...text.slice(from).trim()]
  return points.slice(0, SENTENCE_MAX).join('').toWellFormed()
}

/** Full-width letters and digits, dashes and spaces as their ASCII forms, of the same length. */
export function narrowed(text: string): string {
  return text
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\u3000\u00a0\u2007\u202f]/g, ' ')
    .replace(/[\u2010-\u2013\u2212]/g, '-')
}
