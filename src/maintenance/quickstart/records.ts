// Every DNS record that a server and its first domain need, and the same as a zone file.

import { createPublicKey } from 'node:crypto'
import { sha256 } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import { type DnsRecord, hostRecords, isCname } from '../../directory/domains/dns-records.ts'
import type { Domain } from '../../directory/domains/domain-record.ts'
import { bounceDomain } from '../../directory/names/domain-name.ts'
import type { OwnAddress } from './own-addresses.ts'

export const RECORD_TYPES = ['A', 'AAAA', 'MX', 'TXT', 'CNAME', 'SRV', 'CAA', 'TLSA'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

/** The purpose of each record, as the table shows it. */
export const RECORD_PURPOSES = {
  verification: 'proves that the domain is yours',
  address: 'address of the server',
  host_spf: 'SPF of the server',
  bounces: 'receives bounces',
  bounce_spf: 'SPF of bounces',
  report_consent: 'lets DMARC reports come here',
  spf: 'SPF: who may send',
  dkim: 'DKIM: the key of signatures',
  dmarc: 'DMARC: what receivers do, and reports',
  mta_sts: 'MTA-STS: TLS for mail to the domain',
  tls_reports: 'TLS-RPT: reports about TLS',
  client: 'mail programs find their settings',
  caa: 'CAA: who may issue certificates',
  tlsa: 'TLSA: DANE, pins the key of the server',
  mx: 'MX: receives mail',
} as const
export type RecordPurpose = keyof typeof RECORD_PURPOSES

export interface SetupRecord {
  purpose: RecordPurpose
  name: string
  type: RecordType
  /** As in a zone file, without quotation marks: `10 mail.example.com` for MX. */
  value: string
  /** Mail does not work without it; the others are recommended. */
  isRequired: boolean
}

interface RecordInput {
  config: Config
  domain: Domain
  addresses: readonly OwnAddress[]
  /** Key of the certificate of the mail host, PEM; null while it may still change, or where the zone is not signed. */
  tlsaKey: string | null
  /** Issuer for CAA; null for none. */
  issuer: string | null
}

const HOST_PURPOSES = ['host_spf', 'bounces', 'bounce_spf', 'report_consent'] as const
const SMTP_TLSA_PORT = 25
const TTL_SECONDS = 3600
/** A string of a TXT record has at most 255 bytes (RFC 1035 §3.3.14). */
const STRING_MAX = 255
/** Issuers by the host of the directory of the authority (RFC 8555 §9.7.6 has no such list). */
const ISSUERS: readonly [end: string, issuer: string][] = [
  ['.letsencrypt.org', 'letsencrypt.org'],
  ['.zerossl.com', 'sectigo.com'],
  ['.pki.goog', 'pki.goog'],
  ['.buypass.com', 'buypass.com'],
]

/** The issuer that the records of the mail host have to allow; null without ACME, and for an authority of a closed network. */
export function issuerOf({ ACME, ACME_DIRECTORY }: Pick<Config, 'ACME' | 'ACME_DIRECTORY'>): string | null {
  const { hostname } = new URL(ACME_DIRECTORY)
  return ACME === 'off' ? null : (ISSUERS.find(([end]) => hostname.endsWith(end))?.[1] ?? null)
}

/** In the order of publishing: the proof of the domain first, the MX record last, because with it mail arrives here. */
export function setupRecords({ config, domain, addresses, tlsaKey, issuer }: RecordInput): SetupRecord[] {
  const host = config.MAIL_HOSTS[0]!
  const { verification, spf, dkim, dmarc, client, tls, mx } = domain.records
  const record = (purpose: RecordPurpose, from: Omit<SetupRecord, 'purpose' | 'isRequired'>, isRequired = true) => ({
    ...{ purpose, name: from.name, type: from.type, value: from.value, isRequired },
  })
  const text = (purpose: RecordPurpose, from: DnsRecord) =>
    record(purpose, { ...from, type: isCname(from) ? 'CNAME' : 'TXT' })
  const own = hostRecords(host, bounceDomain(host))
  return [
    text('verification', verification),
    ...addresses.map(({ address, isIpv6 }) =>
      record('address', { name: host, type: isIpv6 ? 'AAAA' : 'A', value: address }),
    ),
    ...own.map((each, index) => record(HOST_PURPOSES[index]!, each, index < 3)),
    text('spf', spf),
    ...dkim.map((each) => text('dkim', each)),
    text('dmarc', dmarc),
    ...tls.map((each) => record(each.name.startsWith('_smtp._tls.') ? 'tls_reports' : 'mta_sts', each, false)),
    ...client.map((each) => record('client', each, false)),
    ...(issuer === null ? [] : [record('caa', { name: host, type: 'CAA', value: `0 issue "${issuer}"` }, false)]),
    ...(tlsaKey === null ? [] : [record('tlsa', tlsaRecord(host, tlsaKey), false)]),
    ...mx.map(({ priority, target }) =>
      record('mx', { name: domain.name, type: 'MX', value: `${priority} ${target}` }),
    ),
  ]
}

/** The key alone is pinned, so that renewals of the certificate leave the record right (RFC 7671 §5.1, §8.1). */
function tlsaRecord(host: string, key: string) {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const value = `3 1 1 ${sha256(spki).toString('hex')}`
  return { name: `_${SMTP_TLSA_PORT}._tcp.${host}`, type: 'TLSA' as const, value }
}

/** A file that name servers and most panels import (RFC 1035 §5.1). */
export function zoneFile(records: readonly SetupRecord[]): string[] {
  return [
    `$TTL ${TTL_SECONDS}`,
    ...records.map(({ name, type, value }) => `${name}.\tIN\t${type}\t${zoneValue(type, value)}`),
  ]
}

function zoneValue(type: RecordType, value: string): string {
  if (type === 'TXT') return stringsOf(value).map(quoted).join(' ')
  // The last word is a host name, which is complete with its dot only.
  if ((type === 'MX' || type === 'SRV' || type === 'CNAME') && !value.endsWith('.')) return `${value}.`
  return value
}

function stringsOf(text: string): string[] {
  const strings: string[] = []
  for (let start = 0; start === 0 || start < text.length; start += STRING_MAX) {
    strings.push(text.slice(start, start + STRING_MAX))
  }
  return strings
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
