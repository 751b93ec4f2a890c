// Looks up the DNS records of a domain and compares them with the expected ones (docs/design/directory.md §5.3).

import type { AskedServer, Resolver } from '../../base/resolver.ts'
import { type DnsLookup, lookUpCname, lookUpMx, lookUpTxt, shown } from '../names/dns-lookup.ts'
import { type DnsRecord, type DnsRecords, isCname } from './dns-records.ts'

export interface DomainCheck {
  record: 'verification' | 'mx' | 'spf' | 'dkim' | 'dmarc'
  name: string
  expected: string
  /** The values found in DNS; empty also when the lookup failed. */
  found: string[]
  ok: boolean
  /** True for the verification record, which alone decides whether the domain is verified. */
  required: boolean
  /** False without a definite answer of a name server: then nothing is known of a change. */
  definite: boolean
  /** The servers that were asked, in order. */
  asked: AskedServer[]
}

/** Outcome of one lookup: `unknown` without a definite answer of a name server. */
export type RecordFinding = 'found' | 'missing' | 'unknown'

export interface DomainFindings {
  verification: RecordFinding
  /** By record name, including replaced keys. */
  dkim: Map<string, RecordFinding>
  checks: DomainCheck[]
}

export { FOUND_CHARS_MAX, FOUND_MAX } from '../names/dns-lookup.ts'

/** The records to look up. */
export interface ExpectedRecords {
  records: DnsRecords
  /** Records of replaced keys; the check only shows whether they are gone. */
  removable: readonly DnsRecord[]
  /** True for reserved names: the verification counts as found without a lookup, and so do keys without a DNS answer. */
  reserved: boolean
}

/** Looks up every record, bypassing the cache. */
export async function checkDomain(
  resolver: Resolver,
  { records, removable, reserved }: ExpectedRecords,
): Promise<DomainFindings> {
  const { spf, dmarc, verification } = records
  const [proof, exchanges, policies, reports, keys, old] = await Promise.all([
    reserved ? { values: [verification.value], definite: true, asked: [] } : lookUpTxt(resolver, verification.name),
    lookUpMx(resolver, spf.name),
    lookUpTxt(resolver, spf.name),
    lookUpTxt(resolver, dmarc.name),
    Promise.all(records.dkim.map((expected) => lookUpKey(resolver, expected, reserved))),
    Promise.all(removable.map((gone) => lookUpKey(resolver, gone, false))),
  ])
  const proven = proof.values.includes(verification.value)
  const text = (record: DomainCheck['record'], expected: DnsRecord, answer: DnsLookup, ok: boolean): DomainCheck => ({
    record,
    name: expected.name,
    expected: expected.value,
    found: shown(answer.values),
    ok,
    required: record === 'verification',
    definite: answer.definite,
    asked: answer.asked,
  })
  return {
    verification: finding(proof, proven),
    dkim: new Map([...keys, ...old].map(({ expected, answer, ok }) => [expected.name, finding(answer, ok)])),
    checks: [
      text('verification', verification, reserved ? { values: [], definite: true, asked: [] } : proof, proven),
      ...records.mx.map(({ priority, target }): DomainCheck => {
        const ok = exchanges.values.some((value) => value.endsWith(` ${target}`))
        return text('mx', { name: spf.name, value: `${priority} ${target}` }, exchanges, ok)
      }),
      text('spf', spf, policies, isSpfFor(policies.values, spf.value)),
      ...keys.map(({ expected, answer, ok }) => text('dkim', expected, answer, ok)),
      text('dmarc', dmarc, reports, reports.values.filter((value) => /^v=DMARC1\s*(;|$)/.test(value)).length === 1),
    ],
  }
}

// Two SPF records are a permanent error for every receiver (RFC 7208 §4.5).
function isSpfFor(values: string[], expected: string): boolean {
  const policies = values.filter((value) => /^v=spf1( |$)/i.test(value))
  const named = new Set(policies[0]?.toLowerCase().split(/ +/))
  const senders = expected.split(' ').filter((term) => term.startsWith('include:'))
  return policies.length === 1 && senders.every((term) => named.has(term))
}

interface KeyLookup {
  expected: DnsRecord
  answer: DnsLookup
  ok: boolean
}

async function lookUpKey(resolver: Resolver, expected: DnsRecord, reserved: boolean): Promise<KeyLookup> {
  const answer = await (isCname(expected) ? lookUpCname(resolver, expected.name) : lookUpTxt(resolver, expected.name))
  // A reserved name may have no name server. But when DNS definitely has no key, receivers could not verify a signature.
  const isFound = answer.values.some((value) => isSameRecord(value, expected))
  return { expected, answer, ok: isFound || (reserved && !answer.definite) }
}

function isSameRecord(value: string, expected: DnsRecord): boolean {
  return isCname(expected) ? value === expected.value : publicKeyOf(value) === publicKeyOf(expected.value)
}

/** The key of a DKIM record without the spaces some editors of zones add (RFC 6376 §3.6.1). */
function publicKeyOf(value: string): string | null {
  for (const tag of value.split(';')) {
    const cut = tag.indexOf('=')
    if (tag.slice(0, cut).trim() === 'p') return tag.slice(cut + 1).replace(/\s+/g, '')
  }
  return null
}

function finding(answer: DnsLookup, ok: boolean): RecordFinding {
  if (ok) return 'found'
  return answer.definite ? 'missing' : 'unknown'
}
