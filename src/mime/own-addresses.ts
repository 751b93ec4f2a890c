// The addresses a mailbox writes as, for checks of authors that run without the directory.

import { untagged } from './local-part.ts'

export interface OwnAddresses {
  /** Lower-case; the address of the mailbox first. */
  addresses: readonly string[]
  /** Whether each of them may have a `+tag` (RFC 5233). */
  takesTags: boolean
}

/** Whether an address in any case of its letters is among them. */
export function isOwnAddress({ addresses, takesTags }: OwnAddresses, email: string): boolean {
  const written = email.toLowerCase()
  return addresses.includes(written) || (takesTags && addresses.includes(untagged(written)))
}

/** For an error message: the addresses, and whether they may have a tag. */
export function namedAddresses({ addresses, takesTags }: OwnAddresses): string {
  const list = addresses.join(', ')
  if (!takesTags) return list
  return `${list}${addresses.length === 1 ? ', and that' : ', and each of them'} with a +tag`
}
