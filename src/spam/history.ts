// What a mailbox knows of the sender of a message: facts of its history with the address, then with the domain.

import type { FactName } from './catalog.ts'

/** What a mailbox has done with messages of an address or a domain; only authenticated messages count, but for `written`. */
export interface Acquaintance {
  /** Read and kept outside Junk and Trash. */
  kept: number
  answered: number
  /** Messages sent to it. */
  written: number
  /** Labeled as junk, and as not junk. */
  junked: number
  rescued: number
}

export interface SenderHistory {
  facts: FactName[]
}

/** One message may have been opened by mistake. */
const KEPT_MIN = 2
const DOMAIN_KEPT_MIN = 3
const DOMAIN_JUNKED_MIN = 2

/**
 * @param isProven the author is authenticated: only then a history counts for or against the message
 * @param domain null for domains of strangers to each other (free mail), and where it is not asked
 */
export function historyOf(isProven: boolean, address: Acquaintance | null, domain: Acquaintance | null): SenderHistory {
  if (!isProven) return { facts: address !== null && isKnown(address) ? ['known_sender_unproven'] : [] }
  if (address === null || isEmpty(address)) return { facts: ['first_contact', ...domainFacts(domain)] }
  if (
    address.junked > address.rescued + (isKnown(address) ? address.kept : 0) &&
    address.written + address.answered === 0
  )
    return { facts: ['sender_junked'] }
  return { facts: isKnown(address) && address.junked <= address.rescued ? ['sender_known'] : domainFacts(domain) }
}

function isKnown({ kept, answered, written, rescued }: Acquaintance): boolean {
  return answered + written + rescued > 0 || kept >= KEPT_MIN
}

function isEmpty(acquaintance: Acquaintance): boolean {
  return Object.values(acquaintance).every((count) => count === 0)
}

function domainFacts(domain: Acquaintance | null): FactName[] {
  if (domain === null) return []
  const { kept, answered, written, junked, rescued } = domain
  if (junked >= DOMAIN_JUNKED_MIN && junked > kept + rescued) return ['domain_junked']
  const isLiked = answered + written + rescued > 0 || kept >= DOMAIN_KEPT_MIN
  return isLiked && junked <= rescued ? ['domain_known'] : []
}
