// Which records of a set-up DNS has now, asked at the authoritative name servers.

import type { Resolver } from '../../base/resolver.ts'
import type { Domain } from '../../directory/domains/domain-record.ts'
import type { Domains } from '../../directory/domains/domains.ts'
import { checkClientRecords } from '../../directory/names/client-records.ts'
import { lookUp, lookUpTxt, shown } from '../../directory/names/dns-lookup.ts'
import { type TlsaRecord, tlsaText } from '../../tls-policy/tlsa.ts'
import { isAnswered } from '../doctor/mail-host.ts'
import type { SetupRecord } from './records.ts'

export interface RecordStatus extends SetupRecord {
  isPublished: boolean
  /** Values in DNS under that name and type; empty too when no name server answered. */
  found: string[]
}

interface Answer {
  found: string[]
  ok: boolean
}

interface PublishedDeps {
  resolver: Resolver
  domains: Pick<Domains, 'inspect' | 'checkClientRecords'>
  domain: Domain
}

export async function checkPublished(
  { resolver, domains, domain }: PublishedDeps,
  records: readonly SetupRecord[],
): Promise<RecordStatus[]> {
  const [{ checks }, client] = await Promise.all([domains.inspect(domain), domains.checkClientRecords(domain)])
  const answers = new Map<string, Answer>([
    ...checks.map((check): [string, Answer] => [`${check.name} ${check.expected}`, check]),
    ...client.map((check): [string, Answer] => [`${check.name} ${check.value}`, check]),
  ])
  return Promise.all(
    records.map(async (record) => {
      const { found, ok } = answers.get(`${record.name} ${record.value}`) ?? (await ask(resolver, record))
      return { ...record, isPublished: ok, found }
    }),
  )
}

async function ask(resolver: Resolver, record: SetupRecord): Promise<Answer> {
  const { type, value } = record
  // Any name stands for all of them.
  const name = record.name.replace('*', 'any')
  if (type === 'CNAME') {
    const [check] = await checkClientRecords(resolver, [{ name, type, value }])
    return check!
  }
  const read = READERS[type]
  const { values } = type === 'TXT' ? await lookUpTxt(resolver, name) : await lookUp(resolver, name, type, read!)
  return { found: shown(values), ok: isPublished(record, values) }
}

/** How the answers of the other types are read. */
const READERS: Partial<Record<SetupRecord['type'], (answer: unknown) => string[]>> = {
  A: (answer) => answer as string[],
  AAAA: (answer) => answer as string[],
  MX: (answer) => (answer as { exchange: string }[]).map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, '')),
  CAA: (answer) => (answer as { critical: number; tag: string; value: string }[]).map(caaText),
  TLSA: (answer) => (answer as TlsaRecord[]).map(tlsaText),
}

function caaText({ critical, tag, value }: { critical: number; tag: string; value: string }): string {
  return `${critical} ${tag} "${value}"`
}

function isPublished({ purpose, type, value }: SetupRecord, values: readonly string[]): boolean {
  if (type === 'MX' || purpose === 'host_spf' || purpose === 'bounce_spf' || purpose === 'report_consent') {
    const lower = values.map((text) => text.toLowerCase())
    return isAnswered({ type: type === 'MX' ? type : 'TXT', value }, lower)
  }
  // Reports may go to an address of the owner's choice (RFC 8460 §3).
  if (purpose === 'tls_reports') return values.filter((text) => /^v=TLSRPTv1\s*;/.test(text)).length === 1
  return values.includes(value)
}

/** Whether the zone of a name is signed: a name above it has a DS record in its parent (RFC 4035 §2.4). */
export async function isSigned(resolver: Resolver, name: string): Promise<boolean> {
  const labels = name.split('.')
  for (let from = 0; from < labels.length - 1; from++) {
    const { values } = await lookUp(resolver, labels.slice(from).join('.'), 'DS', (answer) =>
      (answer as number[]).map(String),
    )
    if (values.length > 0) return true
  }
  return false
}
