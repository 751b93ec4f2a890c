// Detects addresses in display names: many mail clients show the name alone, so it could impersonate a sender.

/** Characters without a shape of their own: readers see the text without them. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** "@" between two parts. */
const ADDRESS = /[^\s@]\s*@\s*[^\s@]/u
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N}\\-]*[\\p{L}\\p{M}\\p{N}])?'
const TOP = '[\\p{L}\\p{M}]{2}'
const MARKED_AT = '\\s*(?:@|[([{<]\\s*(?:at|@)\\s*[)\\]}>])\\s*'
const MARKED_DOT = '\\s*(?:[([{<]\\s*(?:dot|\\.)\\s*[)\\]}>]|\\sdot\\s)\\s*'
/**
 * An address in words, such as `ceo at good.example` and `ceo[at]good[dot]example`. After the mere word "at", the dot must be
 * tight or marked: "Meet at St. Mary" is none.
 */
const SPELLED = [
  new RegExp(`${MARKED_AT}${LABEL}(?:\\s*[.\\u3002]\\s*|${MARKED_DOT})[\\p{L}\\p{N}]`, 'iu'),
  new RegExp(`[\\p{L}\\p{M}\\p{N}]\\s+at\\s+${LABEL}(?:[.\\u3002]|${MARKED_DOT})${TOP}`, 'iu'),
]
/** An address with a host name of several labels. */
const WRITTEN = /[^\s@<>()[\]"',:;]+@((?:[\p{L}\p{M}\p{N}-]+\.)+[\p{L}\p{M}\p{N}-]{2,})/u

/** The text as a reader sees it: without invisible characters, compatibility forms (full-width letters and signs) as plain ones. */
export function visibleForm(text: string): string {
  return text.replace(INVISIBLE, '').normalize('NFKC')
}

/** True when a name looks like an address, also in words, in compatibility forms or with invisible characters. */
export function looksLikeAddress(name: string): boolean {
  const seen = visibleForm(name)
  return ADDRESS.test(seen) || SPELLED.some((form) => form.test(seen))
}

/** The address a reader sees in a display name. `isDisguised`: it is not written so. Null when there is none. */
export function addressInName(name: string): { domain: string; isDisguised: boolean } | null {
  const match = WRITTEN.exec(visibleForm(name).replaceAll('\u3002', '.'))
  if (match === null) return null
  return { domain: match[1]!.toLowerCase(), isDisguised: !name.normalize('NFC').includes(match[0]) }
}

/** True when one domain is the other or a subdomain of it. Both in lower case. */
export function areRelated(one: string, other: string): boolean {
  return one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`)
}

export const LIKE_ADDRESS = 'The name of an agent must not look like an address. Use a name without "@".'
