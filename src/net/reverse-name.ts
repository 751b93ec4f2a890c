// Forward-confirmed reverse DNS: the PTR name of an address, when that name resolves back to the address (RFC 8601 §2.7.3).

import ipaddr from 'ipaddr.js'
import type { Resolver } from '../base/resolver.ts'
import { plainAddress } from './connections.ts'

/** `none`: no name of the address resolves back to it. `unknown`: DNS failed. */
export type RemoteName = { name: string } | 'none' | 'unknown'

// An address may have any number of PTR records; only the first few are checked.
const MAX_NAMES = 3
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** Looks up PTR, then A or AAAA of each name (RFC 8601 §2.7.3 "iprev"). Never throws. */
export async function findRemoteName(address: string, resolver: Resolver): Promise<RemoteName> {
  if (!ipaddr.isValid(address)) return 'unknown'
  const type = ipaddr.process(address).kind() === 'ipv4' ? 'A' : 'AAAA'
  try {
    const found = await resolver.resolve(reverseName(address), 'PTR')
    for (const each of found.slice(0, MAX_NAMES)) {
      const name = String(each).toLowerCase().replace(/\.$/, '')
      if (HOST_NAME.test(name) && (await resolvesTo(name, type, address, resolver))) return { name }
    }
    return 'none'
  } catch (error) {
    return isAbsent(error) ? 'none' : 'unknown'
  }
}

async function resolvesTo(name: string, type: string, address: string, resolver: Resolver): Promise<boolean> {
  try {
    const addresses = await resolver.resolve(name, type)
    return addresses.some((found) => plainAddress(String(found)) === plainAddress(address))
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes((error as { code?: string }).code ?? '')
}

/** The name under in-addr.arpa or ip6.arpa (RFC 1035 3.5, RFC 3596 2.5). */
export function reverseName(address: string): string {
  return `${reversedLabels(address)}.${ipaddr.process(address).kind() === 'ipv4' ? 'in-addr' : 'ip6'}.arpa`
}

/** An address as names of blocklists have it (RFC 5782 §2.1): its bytes, or the hexadecimal digits of an IPv6 address, the last one first. */
export function reversedLabels(address: string): string {
  const parsed = ipaddr.process(address)
  const bytes = parsed.toByteArray()
  if (parsed.kind() === 'ipv4') return bytes.toReversed().join('.')
  const digits = bytes.flatMap((byte) => [byte >> 4, byte & 15]).map((digit) => digit.toString(16))
  return digits.toReversed().join('.')
}
