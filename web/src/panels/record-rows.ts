// The records of a domain as rows of a table and as a zone file.

import type { Domain, DomainCheck } from '../api/types.ts'

export type RecordKind = DomainCheck['record']

/** A record to publish. */
export interface RecordRow {
  kind: RecordKind
  type: 'TXT' | 'MX' | 'CNAME'
  name: string
  value: string
}

/** A record whose value is a host name is a CNAME. */
const typeOf = (value: string) => (/[= ]/.test(value) ? 'TXT' : 'CNAME')

/** The records in the order in which they are published. */
export function recordRows({ domain, dns_records: records }: Domain): RecordRow[] {
  const text = (kind: RecordKind, { name, value }: { name: string; value: string }): RecordRow => ({
    kind,
    type: typeOf(value),
    name,
    value,
  })
  return [
    text('verification', records.verification),
    ...records.mx.map(({ priority, target }) => ({
      kind: 'mx' as const,
      type: 'MX' as const,
      name: domain,
      value: `${priority} ${target}`,
    })),
    text('spf', records.spf),
    ...records.dkim.map((record) => text('dkim', record)),
    text('dmarc', records.dmarc),
  ]
}

/** The check of a row, among those of the domain. */
export function checkOf(row: RecordRow, checks: readonly DomainCheck[]): DomainCheck | undefined {
  const ofKind = checks.filter(({ record }) => record === row.kind)
  return (
    ofKind.find(({ name, expected }) => name === row.name && expected === row.value) ??
    ofKind.find(({ name }) => name === row.name) ??
    ofKind[0]
  )
}

/** A name as most providers want it: without the domain, `@` for the domain itself. */
export function shortName(name: string, domain: string): string {
  if (name === domain) return '@'
  return name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : name
}

const TXT_PART = 255

/** The text of a TXT record: strings of at most 255 bytes (RFC 1035 §3.3). */
function quotedText(value: string): string {
  const parts = value.match(new RegExp(`.{1,${TXT_PART}}`, 'g')) ?? ['']
  return parts.map((part) => `"${part.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(' ')
}

const zoneLine = (name: string, domain: string, type: string, data: string) =>
  `${shortName(name, domain)}\t3600\tIN\t${type}\t${data}`

/** All records in the format of BIND (RFC 1035 §5). */
export function zoneFile(domain: Domain): string {
  const lines = recordRows(domain).map(({ type, name, value }) => {
    const data = type === 'TXT' ? quotedText(value) : `${value}.`
    return zoneLine(name, domain.domain, type, data)
  })
  const client = domain.dns_records.client.map(({ name, type, value }) =>
    zoneLine(name, domain.domain, type, value.endsWith('.') ? value : `${value}.`),
  )
  const tls = domain.dns_records.tls.map(({ name, type, value }) =>
    zoneLine(name, domain.domain, type, type === 'TXT' ? quotedText(value) : `${value}.`),
  )
  return `$ORIGIN ${domain.domain}.\n${[...lines, ...client, ...tls].join('\n')}\n`
}
