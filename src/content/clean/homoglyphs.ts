// Detects domain names that imitate others (homoglyphs).

import { domainToUnicode } from 'node:url'

/** Letters of other scripts that look like Latin letters. */
const LOOK_LATIN = /^[асԁеһіјӏорԛѕԝхуүгпкмтвнԍո-օαειοκνρτυχωɑɡıіοⅼƙ0-9-]+$/u

/** True for a name with a label that mixes scripts, or consists of letters of another script that look Latin. */
export function isHomoglyph(host: string): boolean {
  const name = host.includes('xn--') ? domainToUnicode(host) : host
  if (/^[\x00-\x7f]*$/.test(name)) return false
  const labels = name.normalize('NFC').toLowerCase().split('.')
  const isLatinZone = /^[a-z0-9-]+$/.test(labels.at(-1)!)
  return labels.some((label) => {
    if (/^[\x00-\x7f]*$/.test(label)) return false
    const scripts = SCRIPTS.filter((script) => script.test(label)).length
    if (scripts > 1) return true
    return isLatinZone && !/[a-z]/.test(label) && LOOK_LATIN.test(label)
  })
}

/** Scripts that are confused with one another; Han, Kana and Hangul stand beside Latin letters by custom. */
const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
]

/** The host of a link; null for one without. */
export function hostOf(url: string): string | null {
  const origin = /^https?:[/\\]*[^/\\?#]+/i.exec(url)?.[0]
  if (origin === undefined) return null
  return URL.parse(origin)?.hostname ?? null
}
