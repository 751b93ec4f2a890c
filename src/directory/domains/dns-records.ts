// The DNS records that the owner of a domain has to publish (docs/design/directory.md §5.2).

import type { Config } from '../../config/config.ts'
import type { StsMode } from '../../tls-policy/sts.ts'
import { type ClientRecord, clientRecords } from '../names/client-records.ts'
import { type TlsRecord, tlsRecords } from './tls-records.ts'

/** A TXT record, or a CNAME when the value is a host name. */
export interface DnsRecord {
  name: string
  value: string
}

export interface DnsRecords {
  mx: { priority: number; target: string }[]
  spf: DnsRecord
  dmarc: DnsRecord
  dkim: DnsRecord[]
  verification: DnsRecord
  /** For mail programs: recommended, not required. */
  client: ClientRecord[]
  /** MTA-STS and TLS reports: recommended, not required. */
  tls: TlsRecord[]
}

/** The values that the records of a domain are built from. */
export interface DnsRecordInput {
  name: string
  token: string
  dkim: DnsRecord[]
  /** DKIM tokens of Amazon SES; null while the domain does not send through it. */
  sesTokens: readonly string[] | null
  mtaStsMode: StsMode
}

/** Local part that DMARC reports are sent to, at the mail host. */
export const DMARC_REPORTS_TO = 'dmarc'
const MX_PRIORITY = 10
const SES_TERM = 'include:amazonses.com'

export function dnsRecords(domain: DnsRecordInput, config: Config): DnsRecords {
  const { MAIL_HOSTS: mailHosts } = config
  const host = mailHosts[0]!
  const senders = domain.sesTokens === null ? spfTerm(host) : `${spfTerm(host)} ${SES_TERM}`
  return {
    mx: mailHosts.map((target) => ({ priority: MX_PRIORITY, target })),
    spf: { name: domain.name, value: `v=spf1 ${senders} ~all` },
    dmarc: { name: `_dmarc.${domain.name}`, value: `v=DMARC1; p=none; rua=mailto:${DMARC_REPORTS_TO}@${host}` },
    dkim: [...domain.dkim, ...(domain.sesTokens ?? []).map((token) => sesRecord(token, domain.name))],
    verification: { name: `_mail-verify.${domain.name}`, value: `mail-verification=${domain.token}` },
    client: clientRecords(domain.name, config),
    tls: tlsRecords(domain.name, domain.mtaStsMode, config),
  }
}

/** A CNAME to a key that Amazon SES manages and rotates. */
function sesRecord(token: string, name: string): DnsRecord {
  return { name: `${token}._domainkey.${name}`, value: `${token}.dkim.amazonses.com` }
}

/** A record whose value is a host name is a CNAME, all others are TXT. */
export function isCname({ value }: DnsRecord): boolean {
  return !/[= ]/.test(value)
}

/** The SPF term that authorises this appliance to send. */
function spfTerm(mailHost: string): string {
  return `include:_spf.${mailHost}`
}

/** A record with its type, for a zone file. */
export interface ZoneRecord {
  name: string
  type: 'MX' | 'TXT'
  value: string
}

/**
 * The additional records of a mail host: SPF for its addresses, MX for bounces, and the authorisation to receive DMARC reports of other
 * domains (RFC 7489 §7.1).
 * @param bounces the bounce domain
 */
export function hostRecords(host: string, bounces: string): ZoneRecord[] {
  return [
    { name: `_spf.${host}`, type: 'TXT', value: `v=spf1 a:${host} -all` },
    { name: bounces, type: 'MX', value: `${MX_PRIORITY} ${host}` },
    { name: bounces, type: 'TXT', value: `v=spf1 ${spfTerm(host)} -all` },
    { name: `*._report._dmarc.${host}`, type: 'TXT', value: 'v=DMARC1' },
  ]
}
