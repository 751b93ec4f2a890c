// The DNS records of the mail hosts themselves, each with what DNS answers now: addresses, reverse DNS, and those for sending and reports.

import { isPublicAddress } from '../../base/public-address.ts'
import type { Resolver } from '../../base/resolver.ts'
import { hostRecords, type ZoneRecord } from '../../directory/domains/dns-records.ts'
import { bounceDomain, isReserved } from '../../directory/names/domain-name.ts'
import { reverseName } from '../../net/reverse-name.ts'
import { ADDRESSES_MAX, askRecord, isAnswered } from './mail-host.ts'

/** `not_checked`: the name is reserved (RFC 2606), so it cannot be published; `unanswered`: no name server answered. */
export type OwnRecordStatus = 'ok' | 'missing' | 'wrong' | 'unanswered' | 'not_checked'

export interface OwnRecord {
  /** What it is for. */
  purpose: 'address' | 'reverse' | 'spf' | 'bounces' | 'bounce_spf' | 'reports'
  name: string
  type: 'A' | 'AAAA' | 'PTR' | 'MX' | 'TXT'
  /** What it has to be; null where any public address of this machine is right. */
  value: string | null
  /** At most ten values. */
  found: string[]
  status: OwnRecordStatus
}

const FOUND_MAX = 10
const FOUND_LENGTH = 500
const PURPOSES = ['spf', 'bounces', 'bounce_spf', 'reports'] as const

/** Looks them up, bypassing the cache. Only the first host sends, and receives reports. */
export async function readOwnRecords(resolver: Resolver, hosts: readonly string[]): Promise<OwnRecord[]> {
  const addresses = await Promise.all(hosts.map((host) => addressRecords(resolver, host)))
  const host = hosts[0]!
  const wanted = hostRecords(host, bounceDomain(host))
  const others = wanted.map((record, index) => hostRecord(resolver, host, { ...record, purpose: PURPOSES[index]! }))
  return [...addresses.flat(), ...(await Promise.all(others))]
}

/** The addresses of a host, and the name that each public one leads back to. */
async function addressRecords(resolver: Resolver, host: string): Promise<OwnRecord[]> {
  const base = { purpose: 'address', name: host, value: null } as const
  if (isReserved(host)) return [{ ...base, type: 'A', found: [], status: 'not_checked' }]
  const [four, six] = await Promise.all([askRecord(resolver, host, 'A'), askRecord(resolver, host, 'AAAA')])
  const found = [
    { type: 'A' as const, ...four },
    { type: 'AAAA' as const, ...six },
  ].filter(({ values }) => values.length > 0)
  if (found.length === 0) {
    return [{ ...base, type: 'A', found: [], status: four.sure && six.sure ? 'missing' : 'unanswered' }]
  }
  const records = found.map(({ type, values }): OwnRecord => {
    return { ...base, type, found: shown(values), status: values.every(isPublicAddress) ? 'ok' : 'wrong' }
  })
  const all = found.flatMap(({ values }) => values).slice(0, ADDRESSES_MAX)
  const reverse = all.filter(isPublicAddress).map((address) => reverseRecord(resolver, host, address))
  return [...records, ...(await Promise.all(reverse))]
}

async function reverseRecord(resolver: Resolver, host: string, address: string): Promise<OwnRecord> {
  const name = reverseName(address)
  const { values, sure } = await askRecord(resolver, name, 'PTR')
  const status = statusOf({ values, sure }, values.includes(host))
  return { purpose: 'reverse', name, type: 'PTR', value: host, found: shown(values), status }
}

async function hostRecord(
  resolver: Resolver,
  host: string,
  { name, type, value, purpose }: ZoneRecord & Pick<OwnRecord, 'purpose'>,
): Promise<OwnRecord> {
  const record = { purpose, name, type, value }
  if (isReserved(host)) return { ...record, found: [], status: 'not_checked' }
  // Any name stands for all of them.
  const { values, sure } = await askRecord(resolver, name.replace('*', 'any'), type)
  return { ...record, found: shown(values), status: statusOf({ values, sure }, isAnswered({ type, value }, values)) }
}

function statusOf({ values, sure }: { values: readonly string[]; sure: boolean }, isRight: boolean): OwnRecordStatus {
  if (isRight) return 'ok'
  if (!sure) return 'unanswered'
  return values.length === 0 ? 'missing' : 'wrong'
}

/** What others wrote in DNS, within bounds. */
function shown(values: readonly string[]): string[] {
  return values.slice(0, FOUND_MAX).map((value) => value.slice(0, FOUND_LENGTH))
}
