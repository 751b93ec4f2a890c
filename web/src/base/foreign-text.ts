// Text of strangers: characters that cannot be seen, and names that look like others, found so that the pages can show them.

/** A piece of a text: as it is, or with a reason to mark it. */
export type ForeignPart =
  | { kind: 'text'; text: string }
  /** Characters that are not visible or turn the text around; their code points. */
  | { kind: 'hidden'; codes: readonly string[] }
  /** A domain that looks like another one, as DNS knows it. */
  | { kind: 'domain'; text: string; original: string }
  /** A word of letters of two alphabets that look alike. */
  | { kind: 'mixed'; text: string }

/** Scripts whose letters are written with joiners (RFC 5892 appendix A.1 and A.2). */
const JOINING = [
  'Arab',
  'Syrc',
  'Mong',
  'Deva',
  'Beng',
  'Guru',
  'Gujr',
  'Orya',
  'Taml',
  'Telu',
  'Knda',
  'Mlym',
  'Sinh',
  'Khmr',
]
  .map((script) => `\\p{scx=${script}}`)
  .join('')
const PICTURE = '\\p{ExtPict}[\\u{1f3fb}-\\u{1f3ff}\\ufe0e\\ufe0f]*'

/** Invisible characters in places where they belong: emoji, flags of regions, joiners between letters that join, forms of Han. */
const RIGHTFUL = [
  '\\u{1f3f4}[\\u{e0030}-\\u{e007a}]{2,6}\\u{e007f}',
  `${PICTURE}(?:\\u200d${PICTURE})*`,
  '[0-9#*]\\ufe0f\\u20e3',
  '\\p{Script=Han}[\\u{e0100}-\\u{e01ef}]',
  `(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])`,
  '\\r?\\n',
  '\\t',
].join('|')
const HIDDEN = '[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\p{DI}\\u2800\\ufff9-\\ufffb]+'
const DOMAIN = '(?:[\\p{L}\\p{N}\\p{M}-]+[.\\u3002])+\\p{L}[\\p{L}\\p{N}\\p{M}-]+'
const WORD = '[\\p{L}\\p{M}]+'

/** A text without any of these is shown as it is. */
const PLAIN = /^[\n\x20-\x7e]*$/
const PIECE = new RegExp(`(?<rightful>${RIGHTFUL})|(?<hidden>${HIDDEN})|(?<domain>${DOMAIN})|(?<word>${WORD})`, 'gu')

/** Letters of other alphabets that look like Latin ones: Cyrillic, Greek, Armenian, Cherokee. */
const LOOKALIKES = /^[аеорсухіїјѕԁһԛԝӏԍѡьъАВЕЗКМНОРСТХІЇЈЅԌԚԜҮһνοαρικυωϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧսոօցհզԱՏՕᎪᎫᎬᎠᎡᎢᏀᏃᏔᏚᏞᏟᏢ]+$/u
const ALPHABETS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Cherokee',
  'Georgian',
  'Hebrew',
  'Arabic',
  'Thai',
  'Devanagari',
].map((name) => new RegExp(`\\p{Script=${name}}`, 'u'))
const LATIN = /\p{Script=Latin}/u
const NO_LATIN = /[\p{Script=Latin}\p{N}\p{M}-]+/gu

const isMixed = (label: string) => ALPHABETS.filter((alphabet) => alphabet.test(label)).length > 1
const looksLatin = (label: string) => LOOKALIKES.test(label.replace(NO_LATIN, ''))

/** @returns the name in DNS of a domain that looks like another one; null for the others */
function disguised(domain: string): string | null {
  if (PLAIN.test(domain)) return null
  if (!URL.canParse(`http://${domain}`)) return null
  const inDns = new URL(`http://${domain}`).hostname
  const labels = domain.split(/[.。]/)
  const isSuspect = labels.some((label) => isMixed(label) || looksLatin(label))
  // Letters of other shapes (full width, mathematical) that DNS takes for Latin ones.
  return isSuspect || !inDns.includes('xn--') ? inDns : null
}

function partOf(text: string, { hidden, domain, word }: Record<string, string | undefined>): ForeignPart {
  if (hidden !== undefined) return { kind: 'hidden', codes: [...hidden].map(codeOf) }
  const inDns = domain === undefined ? null : disguised(domain)
  if (inDns !== null) return { kind: 'domain', text: inDns, original: text }
  const isDisguised = word !== undefined && LATIN.test(word) && isMixed(word) && looksLatin(word)
  return { kind: isDisguised ? 'mixed' : 'text', text }
}

const codeOf = (character: string) => character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')

/** Cuts a text where something in it has to be marked; most texts are one piece. */
export function partsOf(text: string): ForeignPart[] {
  if (PLAIN.test(text)) return [{ kind: 'text', text }]
  const parts: ForeignPart[] = []
  let end = 0
  for (const found of text.matchAll(PIECE)) {
    const part = partOf(found[0], found.groups!)
    if (part.kind === 'text') continue
    if (found.index > end) parts.push({ kind: 'text', text: text.slice(end, found.index) })
    parts.push(part)
    end = found.index + found[0].length
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) })
  return parts
}

/** The same in one line without marks: for titles of windows and names that are read aloud. */
export function legible(text: string): string {
  return partsOf(text)
    .map((part) => (part.kind === 'hidden' ? part.codes.map((code) => `[U+${code}]`).join('') : part.text))
    .join('')
}
