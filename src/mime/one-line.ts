// Sanitises untrusted text for use in one line of a header, log or message.

import { looksLikeAddress } from './display-name.ts'

/** Words of printable ASCII with single spaces: nothing to clean. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/

/** One line of at most `max` characters: control characters become spaces, white space is folded, a cut end shows as "…". */
export function clean(text: string, max: number): string {
  if (text.length <= max && PLAIN.test(text)) return text
  // Only a bounded prefix is processed.
  const line = text
    .slice(0, max * 4)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ')
    .trim()
  return line.length <= max && text.length <= max * 4
    ? line
    : `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** Characters that are not seen: format and direction characters, fillers, variation selectors; a blank of Braille. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\u2800]/gu
/** Characters of which mail programs make links and addresses, and quotation marks that would end a quotation. */
const LINKING = /[@:/\\<>[\]{}|"`\u201c\u201d\u201e\u00ab\u00bb\u2024\u3002\uff61]+|\.+(?=\S)|^\.+/gu
const NAME_MAX = 60
/** A word that mail programs show as a link or an address. */
const LINK_WORD =
  /\S*(?::\/\/|\/\/\S|www\.|@|(?:mailto|tel|sms|javascript|data|file|localhost):\S|[\p{L}\p{N}][.\u3002]\p{L}{2}|\d+\.\d+\.\d+\.\d+)\S*/iu
const LINK_WORDS = new RegExp(LINK_WORD, 'giu')
const QUOTATION_MAX = 60

/**
 * A name that others have chosen (of a team, agent, person or account) for a message that Mailstead writes and signs: one line of at most 60
 * characters without links, addresses, quotation marks, direction and unseen characters.
 * @returns "" when nothing is left
 */
export function mailedName(name: string): string {
  const shown = clean(
    name
      .slice(0, NAME_MAX * 4)
      .normalize('NFKC')
      .replace(UNSEEN, ''),
    NAME_MAX * 4,
  )
  return clean(shown.replace(LINKING, ' '), NAME_MAX)
}

/** A quotation of a foreign subject in a subject of Mailstead, with "…" for each link and address. @param max characters */
export function quotedSubject(subject: string, max = QUOTATION_MAX): string {
  const shown = clean(
    subject
      .slice(0, max * 4)
      .normalize('NFKC')
      .replace(UNSEEN, ''),
    max * 4,
  )
  return clean(shown.replace(LINK_WORDS, '…'), max)
}

/** Whether mail programs show a part of a text as a link or an address. */
export function hasLink(text: string): boolean {
  return LINK_WORD.test(text.normalize('NFKC').replace(UNSEEN, ''))
}

/** Characters that are not seen and that scripts and emoji are joined and varied with. */
const JOINING = /\u200c|\u200d|[\u180b-\u180f]|[\ufe00-\ufe0f]/gu
const HIDING = /[\p{Default_Ignorable_Code_Point}\u2800]/u
const URL_IN_NAME = /:\/\/|\/\/\S|\bwww\.|\b(?:mailto|tel|sms|javascript|data|file|localhost):\S/iu

/**
 * Whether a name may be given to what Mailstead writes messages about: without URLs, addresses, direction and unseen characters. A host
 * name alone ("Booking.com") is the name of many companies; {@link mailedName} takes the link from it.
 */
export function isMailableName(name: string): boolean {
  return !HIDING.test(name.replace(JOINING, '')) && !looksLikeAddress(name) && !URL_IN_NAME.test(name.normalize('NFKC'))
}

/** @param field completes "The … must not" */
export function notMailable(field: string): string {
  return `The ${field} must not contain a link, an address, or direction or invisible characters: messages show it. Use words only.`
}
