// The IP addresses of a mail server, looked up once and checked: what is connected to is what was checked.

import { isIP } from 'node:net'
import { isPublicAddress } from '../../../base/public-address.ts'
import type { Resolver } from '../../../base/resolver.ts'
import { ADDRESSES_MAX } from './limits.ts'

/** Where a host can be reached, or why nowhere. */
export type Found =
  | { kind: 'found'; addresses: string[] }
  /** DNS says that there is no such host, or that it has no address. */
  | { kind: 'absent' }
  /** DNS did not say; it may another time. */
  | { kind: 'unknown' }
  /** All its addresses lie inside, where nobody but the operator may send us. */
  | { kind: 'private' }

/** Error codes with which DNS says "no". */
export const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])
/** RFC 6761 6.3: never asked of DNS. */
const LOCALHOST = /^(?:.+\.)?localhost$/i

/** @param host a name, or an IP address without brackets */
export async function findAddresses(resolver: Resolver, host: string, allowPrivate: boolean): Promise<Found> {
  const all = await allAddresses(resolver, host)
  if (!Array.isArray(all)) return { kind: all }
  const allowed = allowPrivate ? all : all.filter(isPublicAddress)
  if (allowed.length === 0) return { kind: 'private' }
  return { kind: 'found', addresses: allowed.slice(0, ADDRESSES_MAX) }
}

async function allAddresses(resolver: Resolver, host: string): Promise<string[] | 'absent' | 'unknown'> {
  if (isIP(host) !== 0) return [host]
  if (LOCALHOST.test(host)) return ['127.0.0.1', '::1']
  const [four, six] = await Promise.all([ask(resolver, host, 'A'), ask(resolver, host, 'AAAA')])
  // By turns, so that a family that does not work here costs one attempt. IPv4 first: servers that refuse mail from an IPv6
  // address without a name in DNS are many, the other way round there are none.
  const mixed = Array.from({ length: Math.max(four.found.length, six.found.length) }, (_, i) => [
    ...four.found.slice(i, i + 1),
    ...six.found.slice(i, i + 1),
  ]).flat()
  if (mixed.length > 0) return mixed
  return four.failed || six.failed ? 'unknown' : 'absent'
}

async function ask(
  resolver: Resolver,
  host: string,
  type: 'A' | 'AAAA',
): Promise<{ found: string[]; failed: boolean }> {
  try {
    return { found: (await resolver.resolve(host, type)) as string[], failed: false }
  } catch (error) {
    return { found: [], failed: !ABSENT.has((error as { code?: string }).code ?? '') }
  }
}
