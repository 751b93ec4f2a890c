// Collects every domain a mail client may display for an ambiguous From field: DMARC evaluates all of them (RFC 7489 §6.6.1).

import { domainToASCII } from 'node:url'
import { decodeWords } from './encoded-words.ts'

/** A domain behind an "@", in any interpretation; a name in brackets is the domain for readers that take them off. */
const DOMAIN = /@\[?([^\s@<>()",;:\\[\]]{1,300})/g
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** Nesting depth up to which comments are removed. */
const COMMENT_DEPTH = 3
/** Candidates that are examined. */
const CANDIDATES_MAX = 1000

/**
 * @param addresses as displayed; their domains come first
 * @param texts values of From fields, in any form
 * @param max domains that are returned
 */
export function authorDomainsIn(addresses: readonly string[], texts: readonly string[], max: number): string[] {
  const domains = new Set<string>()
  let candidates = 0
  for (const text of [...addresses, ...texts.flatMap(interpretationsOf)]) {
    for (const [, candidate] of text.matchAll(DOMAIN)) {
      if (domains.size >= max || ++candidates > CANDIDATES_MAX) return [...domains]
      const domain = normalized(candidate!)
      if (domain !== null) domains.add(domain)
    }
  }
  return [...domains]
}

/** The text with encoded words raw and decoded, with and without comments, and with white space removed. */
function interpretationsOf(text: string): string[] {
  return [text, decodeWords(text)].flatMap((form) => {
    let plain = form
    for (let depth = 0; depth < COMMENT_DEPTH; depth++) plain = plain.replace(/\([^()]*\)/g, '')
    const joined = plain.normalize('NFKC').replace(/[\s\\"\p{Cc}\p{Cf}]/gu, '')
    return [form, plain, joined]
  })
}

/** Lower-case A-labels; null for a name that cannot have a policy: a single label, or not a host name. */
function normalized(candidate: string): string | null {
  const text = candidate.replace(/^[.']+|[.']+$/g, '')
  const name = /[^\x00-\x7f]/.test(text) ? domainToASCII(text) : text.toLowerCase()
  const labels = name.split('.')
  return labels.length > 1 && name.length <= 253 && labels.every((label) => LABEL.test(label)) ? name : null
}
