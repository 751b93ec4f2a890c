// Resolves a mail server once and checks its IP addresses; connections use exactly the checked addresses.

import { isIP } from 'node:net'
import { isPublicAddress } from '../../../base/public-address.ts'
import type { Resolver } from '../../../base/resolver.ts'
import { ADDRESSES_MAX } from './limits.ts'

/** The addresses of a host, or why there are none. */
export type HostAddresses =
  | { kind: 'found'; addresses: string[] }
  /** The host does not exist or has no address. */
  | { kind: 'absent' }
  /** DNS failed temporarily. */
  | { kind: 'unknown' }
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

async function allAddresses(resolver: Resolver, host: string): Promise<string[] | 'absent' | 'unknown'> {
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
