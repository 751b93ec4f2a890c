// Every domain that some reader may find in an unclear From field: DMARC asks all of them (RFC 7489 6.6.1).

import { domainToASCII } from 'node:url'
import { decodeWords } from './encoded-words.ts'

/** What may follow an "@" in a domain, in any reading. */
const DOMAIN = /@([^\s@<>()",;:\\[\]]{1,300})/g
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** How deep comments may be nested to be taken out. */
const COMMENT_DEPTH = 3
/** Addresses of a list that are looked at. */
const CANDIDATES_MAX = 1000

/**
 * @param addresses as they are shown; their domains come first
 * @param texts values of From fields, in any form
 * @param max domains that are returned
 */
export function authorDomainsIn(addresses: readonly string[], texts: readonly string[], max: number): string[] {
  const domains = new Set<string>()
  let candidates = 0
  for (const text of [...addresses, ...texts.flatMap(readingsOf)]) {
    for (const [, candidate] of text.matchAll(DOMAIN)) {
      if (domains.size >= max || ++candidates > CANDIDATES_MAX) return [...domains]
      const domain = normalized(candidate!)
      if (domain !== null) domains.add(domain)
    }
  }
  return [...domains]
}

/** The text with encoded words as they are and decoded, with and without comments, and with nothing in between. */
function readingsOf(text: string): string[] {
  return [text, decodeWords(text)].flatMap((form) => {
    let plain = form
    for (let depth = 0; depth < COMMENT_DEPTH; depth++) plain = plain.replace(/\([^()]*\)/g, '')
    const joined = plain.normalize('NFKC').replace(/[\s\\"\p{Cc}\p{Cf}]/gu, '')
    return [form, plain, joined]
  })
}

/** In lower-case A-labels; null for what cannot have a policy: a single label, or no host name. */
function normalized(candidate: string): string | null {
  const text = candidate.replace(/^[.']+|[.']+$/g, '')
  const name = /[^\x00-\x7f]/.test(text) ? domainToASCII(text) : text.toLowerCase()
  const labels = name.split('.')
  return labels.length > 1 && name.length <= 253 && labels.every((label) => LABEL.test(label)) ? name : null
}
