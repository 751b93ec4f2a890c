// Removes invisible characters that hide or pad text; keeps those a script needs.

/** Letters of the "tags" block and stray variation selectors carry text past every eye. */
const SMUGGLED = /[\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0f]{2,}/gu
/** The flags of England, Scotland and Wales are the only text that is spelled with tags. */
const FLAG = /\u{1f3f4}[\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu
/** Marks without width. */
const WIDTHLESS =
  '\\u034f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2060-\\u2064\\u206a-\\u206f\\u3164\\ufeff\\uffa0'
/** Two or more of them in a row, spaces of padding between them included. */
const RUN = new RegExp(`[${WIDTHLESS}](?:[ \\u00a0\\u2007\\u202f]{0,4}[${WIDTHLESS}])+`, 'g')
/** Single ones that mean nothing anywhere; joiners and direction marks are spared. */
const SINGLE = /[\u200b\u00ad\u2060-\u2064\ufeff]|\u034f/g
/** Bidirectional controls: the displayed order differs from the stored one. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g

const MAY_HIDE = new RegExp(
  `[${WIDTHLESS}\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ufe00-\\ufe0f]|\\udb40`,
)

/** The line as it is seen, and whether something in it was hidden. */
export function withoutInvisible(line: string): { text: string; hidden: boolean } {
  if (!MAY_HIDE.test(line)) return { text: line, hidden: false }
  const flags: string[] = []
  const kept = line.replace(FLAG, (flag) => {
    flags.push(flag)
    return '\u0000'
  })
  const plain = kept.replace(SMUGGLED, '').replace(RUN, '')
  const hidden = plain.length < kept.length
  let next = 0
  const text = plain
    .replace(SINGLE, '')
    .replace(TURNING, '')
    .replace(/\u0000/g, () => flags[next++] ?? '')
    .replace(CONTROL, '')
  return { text, hidden }
}

const EACH_WIDTHLESS = new RegExp(`[${WIDTHLESS}]`, 'g')

/** The text without any mark that has no width, joiners included. */
export function withoutWidthless(text: string): string {
  return text.replace(EACH_WIDTHLESS, '')
}
