// The preview of a message: the first words of its text, as message lists show them.

/** Characters (code points) of a preview: decisions §10.3. */
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
  for (const character of text) {
    const plain = isPlain(character.charCodeAt(0))
    if (!plain && /[\s\x00-\x1f\x7f-\x9f]/.test(character)) {
      space = true
      joiner = ''
    } else if (!plain && NO_WIDTH.test(character)) {
      joiner = character === '\u200d' || character === '\u200c' ? character : joiner
    } else {
      const lead = count === 0 ? '' : space ? ' ' : joiner
      if (count + lead.length >= PREVIEW_MAX) break
      out += lead + character
      count += lead.length + 1
      space = false
      joiner = ''
    }
  }
  return out.toWellFormed()
}
