// Compares header fields with search strings and dates (RFC 9051 §6.4.4).

import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import { parseListedAddresses } from '../../mime/address-list.ts'
import { parseZonedDate } from '../../mime/date.ts'
import { decodeHeader } from '../../mime/decode.ts'
import { foldWord, tokensOf } from '../../store/search/words.ts'

/** What a search key compares with. */
interface WantedText {
  value: string
  isFuzzy?: boolean
}

/** Text in the form search strings are compared in: case does not matter, accents do. */
export function foldedText(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

/** True when a field contains the string; `value` is its unfolded text, `folded` the search string as {@link foldedText}. */
export function fieldContains(value: string, folded: string): boolean {
  return folded === '' || foldedText(decodeHeader(value)).includes(folded)
}

/**
 * True when an address field contains the string: as written and decoded, or in the form `name <local@domain>` that mail
 * programs show.
 */
export function addressesContain(value: string, folded: string): boolean {
  if (fieldContains(value, folded)) return true
  return parseListedAddresses(value).some(({ name, mailbox, host }) => {
    const address = host === null ? (mailbox ?? '') : `${mailbox}@${host}`
    return foldedText(`${decodeHeader(name ?? '')} <${address}>`).includes(folded)
  })
}

/** True when each word of a search string begins a word of the text; in any order, without accents (FUZZY). */
export function hasWords(value: string, wanted: string): boolean {
  const words = tokensOf(wanted).map(foldWord)
  const known = tokensOf(decodeHeader(value)).map(foldWord)
  return words.every((word) => known.some((one) => one.startsWith(word)))
}

/** Whether a field matches a search string: as a substring, or by its words. */
export function fieldMatches(value: string, { value: wanted, isFuzzy }: WantedText): boolean {
  return fieldContains(value, foldedText(wanted)) || (isFuzzy === true && hasWords(value, wanted))
}

/** {@link fieldMatches} for fields with addresses. */
export function addressesMatch(value: string, { value: wanted, isFuzzy }: WantedText): boolean {
  return addressesContain(value, foldedText(wanted)) || (isFuzzy === true && hasWords(value, wanted))
}

/** The day a Date field names in its own zone, as the ms of that day's start in UTC; null without a readable date. */
export function sentDay(date: string | undefined): number | null {
  const zoned = parseZonedDate(date ?? '')
  if (zoned === null) return null
  const local = zoned.at + zoned.zoneMinutes * MINUTE_MS
  return local - (((local % DAY_MS) + DAY_MS) % DAY_MS)
}

/** SENTBEFORE, SENTON and SENTSINCE: `day` is the start of a day in UTC, ms. A message without a date matches none. */
export function matchesSentDay(date: string | undefined, relation: 'before' | 'on' | 'since', day: number): boolean {
  const sent = sentDay(date)
  if (sent === null) return false
  if (relation === 'before') return sent < day
  return relation === 'on' ? sent === day : sent >= day
}
