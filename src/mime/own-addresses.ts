// The addresses a mailbox writes as, for checks of authors that run without the directory.

import { untagged } from './local-part.ts'
import { matchesPattern } from './local-patterns.ts'

export interface OwnAddresses {
  /** Lower-case; the address of the mailbox first. */
  addresses: readonly string[]
  /** Whether each of them may have a `+tag` (RFC 5233). */
  takesTags: boolean
  /** Addresses that may be its own as well, which only the unit of work knows: `shop-*@shop.example`. */
  patterns: readonly string[]
}

/** Whether an address in any case of its letters is among them. */
export function isOwnAddress({ addresses, takesTags }: OwnAddresses, email: string): boolean {
  const written = email.toLowerCase()
  return addresses.includes(written) || (takesTags && addresses.includes(untagged(written)))
}

/** Whether it is among them, or may turn out to be. */
export function mayBeOwn(own: OwnAddresses, email: string): boolean {
  if (isOwnAddress(own, email)) return true
  const written = email.toLowerCase()
  const at = written.lastIndexOf('@')
  const isLike = (pattern: string) => {
    const cut = pattern.lastIndexOf('@')
    return pattern.slice(cut) === written.slice(at) && matchesPattern(pattern.slice(0, cut), written.slice(0, at))
  }
  return own.patterns.some(isLike)
}

/** For an error message: the addresses, and whether they may have a tag. */
export function namedAddresses({ addresses, takesTags }: OwnAddresses): string {
  const list = addresses.join(', ')
  if (!takesTags) return list
  return `${list}${addresses.length === 1 ? ', and that' : ', and each of them'} with a +tag`
}
