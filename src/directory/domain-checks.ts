// Looks up the DNS records of a domain and compares them with what they should be (decisions §4.3).

import type { Resolver } from '../base/resolver.ts'
import { type DnsRecord, type DnsRecords, isCname } from './dns-records.ts'

export interface DomainCheck {
  record: 'verification' | 'mx' | 'spf' | 'dkim' | 'dmarc'
  name: string
  expected: string
  /** What DNS says today; empty also when it could not be asked. */
  found: string[]
  ok: boolean
  /** True for the one record without which the domain is not verified. */
  required: boolean
}

/** Outcome of asking for one record: `unknown` when no name server answered for sure. */
export type Finding = 'found' | 'missing' | 'unknown'

export interface DomainFindings {
  verification: Finding
  /** By the name of the record; those of replaced keys too. */
  dkim: Map<string, Finding>
  checks: DomainCheck[]
}

/** How much of a stranger's zone is shown: records per name, and characters of each. */
export const FOUND_MAX = 20
export const FOUND_CHARS_MAX = 1000

interface Answer {
  values: string[]
  sure: boolean
}

/** What is looked for. */
export interface Wanted {
  records: DnsRecords
  /** Records of replaced keys: it matters only whether they are gone. */
  removable: readonly DnsRecord[]
  /** Names nobody can own: their proof counts as found without asking, and so do their keys where DNS does not answer. */
  reserved: boolean
}

/** Asks for every record, past the cache. */
export async function checkDomain(
  resolver: Resolver,
  { records, removable, reserved }: Wanted,
): Promise<DomainFindings> {
  const { spf, dmarc, verification } = records
  const [proof, exchanges, policies, reports, keys, old] = await Promise.all([
    reserved ? { values: [verification.value], sure: true } : askTxt(resolver, verification.name),
    askMx(resolver, spf.name),
    askTxt(resolver, spf.name),
    askTxt(resolver, dmarc.name),
    Promise.all(records.dkim.map((wanted) => askKey(resolver, wanted, reserved))),
    Promise.all(removable.map((gone) => askKey(resolver, gone, false))),
  ])
  const proven = proof.values.includes(verification.value)
  const text = (record: DomainCheck['record'], wanted: DnsRecord, answer: Answer, ok: boolean): DomainCheck => ({
    record,
    name: wanted.name,
    expected: wanted.value,
    found: shown(answer.values),
    ok,
    required: record === 'verification',
  })
  return {
    verification: finding(proof, proven),
    dkim: new Map([...keys, ...old].map(({ wanted, answer, ok }) => [wanted.name, finding(answer, ok)])),
    checks: [
      text('verification', verification, reserved ? { values: [], sure: true } : proof, proven),
      ...records.mx.map(({ priority, target }): DomainCheck => {
        const ok = exchanges.values.some((value) => value.endsWith(` ${target}`))
        const found = shown(exchanges.values)
        return { record: 'mx', name: spf.name, expected: `${priority} ${target}`, found, ok, required: false }
      }),
      text('spf', spf, policies, isSpfFor(policies.values, spf.value)),
      ...keys.map(({ wanted, answer, ok }) => text('dkim', wanted, answer, ok)),
      text('dmarc', dmarc, reports, reports.values.filter((value) => /^v=DMARC1\s*(;|$)/.test(value)).length === 1),
    ],
  }
}

// Two SPF records are a permanent error for every receiver (RFC 7208 §4.5).
function isSpfFor(values: string[], wanted: string): boolean {
  const policies = values.filter((value) => /^v=spf1( |$)/i.test(value))
  const named = new Set(policies[0]?.toLowerCase().split(/ +/))
  const senders = wanted.split(' ').filter((term) => term.startsWith('include:'))
  return policies.length === 1 && senders.every((term) => named.has(term))
}

interface AskedKey {
  wanted: DnsRecord
  answer: Answer
  ok: boolean
}

async function askKey(resolver: Resolver, wanted: DnsRecord, reserved: boolean): Promise<AskedKey> {
  const answer = await (isCname(wanted) ? askCname(resolver, wanted.name) : askTxt(resolver, wanted.name))
  // A name without a zone may have no name server that knows it; but where DNS says that there is no such key, nobody could check it.
  const isFound = answer.values.some((value) => isSameRecord(value, wanted))
  return { wanted, answer, ok: isFound || (reserved && !answer.sure) }
}

function isSameRecord(value: string, wanted: DnsRecord): boolean {
  return isCname(wanted) ? value === wanted.value : publicKeyOf(value) === publicKeyOf(wanted.value)
}

/** The key of a DKIM record without the spaces some editors of zones add (RFC 6376 §3.6.1). */
function publicKeyOf(value: string): string | null {
  for (const tag of value.split(';')) {
    const cut = tag.indexOf('=')
    if (tag.slice(0, cut).trim() === 'p') return tag.slice(cut + 1).replace(/\s+/g, '')
  }
  return null
}

function finding(answer: Answer, ok: boolean): Finding {
  if (ok) return 'found'
  return answer.sure ? 'missing' : 'unknown'
}

function shown(values: string[]): string[] {
  return values.slice(0, FOUND_MAX).map((value) => value.slice(0, FOUND_CHARS_MAX))
}

async function askTxt(resolver: Resolver, name: string): Promise<Answer> {
  return ask(resolver, name, 'TXT', (answer) => (answer as string[][]).map((chunks) => chunks.join('')))
}

async function askCname(resolver: Resolver, name: string): Promise<Answer> {
  return ask(resolver, name, 'CNAME', (answer) =>
    (answer as string[]).map((value) => value.toLowerCase().replace(/\.$/, '')),
  )
}

async function askMx(resolver: Resolver, name: string): Promise<Answer> {
  return ask(resolver, name, 'MX', (answer) =>
    (answer as { priority: number; exchange: string }[]).map(
      ({ priority, exchange }) => `${priority} ${exchange.toLowerCase().replace(/\.$/, '')}`,
    ),
  )
}

async function ask(
  resolver: Resolver,
  name: string,
  type: string,
  read: (answer: unknown) => string[],
): Promise<Answer> {
  try {
    return { values: read(await resolver.fresh(name, type)), sure: true }
  } catch (error) {
    const code = (error as { code?: string }).code
    // Only "no such name" and "no such record" are answers; anything else is a name server in trouble.
    return { values: [], sure: code === 'ENOTFOUND' || code === 'ENODATA' }
  }
}
