// The preview of a message: the first words of its text, as message lists show them.

/** Characters (code points) of a preview: docs/design/mailbox.md §3. */
export const PREVIEW_MAX = 256
/** Characters of text that are searched for own words. */
const SCAN_MAX = 64 * 1024

/** "On Monday, Ann wrote:", possibly wrapped over up to three lines. */
const ATTRIBUTION_START = /^\s*On\s.{0,300}$/
const ATTRIBUTION_END = /\bwrote:\s*$/
/** Lines an attribution may take. */
const ATTRIBUTION_LINES = 3

/**
 * At most PREVIEW_MAX code points of the text on one line, without quoted lines (">"), their attribution line, the text behind
 * it and the signature. A text that consists of quotes only is returned as it is.
 */
export function previewOf(text: string): string {
  const lines = text.slice(0, SCAN_MAX).split('\n')
  return fold(ownWords(lines)) || fold(lines.join('\n'))
}

function ownWords(lines: readonly string[]): string {
  const own: string[] = []
  let length = 0
  for (let at = 0; at < lines.length && length < PREVIEW_MAX * 8; at++) {
    const line = lines[at]!
    // Signature separator (RFC 3676 §4.3); many mailers lose the space.
    if (line === '-- ' || line === '--' || line === '-- \r') break
    if (line.startsWith('>')) continue
    const attribution = attributionLines(lines, at)
    if (attribution > 0) {
      if (length > 0) break
      at += attribution - 1
      continue
    }
    if (line.trim() === '') continue
    own.push(line)
    length += line.length
  }
  return own.join('\n')
}

/** Number of lines of an attribution ("On … wrote:") that starts here; 0 for none. */
function attributionLines(lines: readonly string[], at: number): number {
  if (!ATTRIBUTION_START.test(lines[at]!)) return 0
  for (let more = 0; more < ATTRIBUTION_LINES && at + more < lines.length; more++) {
    const line = lines[at + more]!
    if (more > 0 && line.trim() === '') return 0
    if (ATTRIBUTION_END.test(line)) return more + 1
  }
  return 0
}

/** Fast path: most characters of most messages. */
const isPlain = (code: number): boolean => code > 32 && code < 127

/** Zero-width characters: newsletters pad their preheader with them. Joiners inside a word (emoji, Persian) stay. */
export const NO_WIDTH = /\u034f|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/

/** White space folded to single spaces, control and padding characters left out, cut at PREVIEW_MAX code points. */
function fold(text: string): string {
  let out = ''
  let count = 0
  let space = false
  let joiner = ''
  for (let at = 0; at < text.length; ) {
    const end = endOfPlain(text, at, at + PREVIEW_MAX)
    const character = end > at ? '' : String.fromCodePoint(text.codePointAt(at)!)
    if (end === at && /[\s\x00-\x1f\x7f-\x9f]/.test(character)) {
      space = true
      joiner = ''
    } else if (end === at && NO_WIDTH.test(character)) {
      joiner = character === '\u200d' || character === '\u200c' ? character : joiner
    } else {
      const lead = count === 0 ? '' : space ? ' ' : joiner
      const room = PREVIEW_MAX - count - lead.length
      if (room <= 0) break
      out += lead + (end > at ? text.slice(at, Math.min(end, at + room)) : character)
      count += lead.length + Math.max(1, Math.min(end - at, room))
      space = false
      joiner = ''
    }
    at = Math.max(end, at + character.length)
  }
  return out.toWellFormed()
}

/** Where the run of plain characters that starts here ends: a run costs one string, not one for each character. */
function endOfPlain(text: string, start: number, limit: number): number {
  let at = start
  while (at < limit && isPlain(text.charCodeAt(at))) at++
  return at
}
