// Resolves a mail server once and checks its IP addresses; connections use exactly the checked addresses.

import { isIP } from 'node:net'
import { isPublicAddress } from '../../../base/public-address.ts'
import { ALIAS_LOOP, hasAliasLoop, type Resolver } from '../../../base/resolver.ts'
import { ADDRESSES_MAX } from './limits.ts'

/** The addresses of a host, or why there are none. */
export type HostAddresses =
  | { kind: 'found'; addresses: string[] }
  /** The host does not exist or has no address. */
  | { kind: 'absent' }
  /** DNS failed temporarily. */
  | { kind: 'unknown' }
  /** Its aliases form a loop. */
  | { kind: 'looping' }
  /** All addresses are private; only the operator may allow those. */
  | { kind: 'private' }

/** Error codes of a negative DNS answer. */
export const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])
/** RFC 6761 §6.3: never resolved through DNS. */
const LOCALHOST = /^(?:.+\.)?localhost$/i

/** @param host a name, or an IP address without brackets */
export async function findAddresses(resolver: Resolver, host: string, allowPrivate: boolean): Promise<HostAddresses> {
  const all = await allAddresses(resolver, host)
  if (!Array.isArray(all)) return { kind: all }
  const allowed = allowPrivate ? all : all.filter(isPublicAddress)
  if (allowed.length === 0) return { kind: 'private' }
  return { kind: 'found', addresses: allowed.slice(0, ADDRESSES_MAX) }
}

async function allAddresses(resolver: Resolver, host: string): Promise<string[] | 'absent' | 'unknown' | 'looping'> {
  if (isIP(host) !== 0) return [host]
  if (LOCALHOST.test(host)) return ['127.0.0.1', '::1']
  const [four, six] = await Promise.all([ask(resolver, host, 'A'), ask(resolver, host, 'AAAA')])
  // Alternate the families, so that a broken one costs one attempt. IPv4 first: many servers refuse IPv6 clients without a PTR
  // record.
  const mixed = Array.from({ length: Math.max(four.found.length, six.found.length) }, (_, i) => [
    ...four.found.slice(i, i + 1),
    ...six.found.slice(i, i + 1),
  ]).flat()
  if (mixed.length > 0) return mixed
  if (four.failure === null && six.failure === null) return 'absent'
  const codes = [four.failure, six.failure]
  if (codes.includes(ALIAS_LOOP) || (codes.includes('ESERVFAIL') && (await hasAliasLoop(resolver, host))))
    return 'looping'
  return 'unknown'
}

/** `failure`: the code of a failure of DNS; null for an answer, also one that there are no such records. */
async function ask(
  resolver: Resolver,
  host: string,
  type: 'A' | 'AAAA',
): Promise<{ found: string[]; failure: string | null }> {
  try {
    return { found: (await resolver.resolve(host, type)) as string[], failure: null }
  } catch (error) {
    const { code = '' } = error as { code?: string }
    return { found: [], failure: ABSENT.has(code) ? null : code }
  }
}
