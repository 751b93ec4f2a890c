// The DNS records a domain needs, as they are told to its owner (decisions §4.2).

/** A record that is a TXT unless its value is a host name. */
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
}

/** What of a domain its records are made from. */
export interface RecordParts {
  name: string
  token: string
  dkim: DnsRecord[]
  /** By which Amazon SES signs mail of the domain; null while it carries none. */
  sesTokens: readonly string[] | null
}

const MX_PRIORITY = 10
const SES_TERM = 'include:amazonses.com'

/** @param mailHosts the names of this appliance, the first one being its own in SMTP */
export function dnsRecords(domain: RecordParts, mailHosts: readonly string[]): DnsRecords {
  const host = mailHosts[0]!
  const senders = domain.sesTokens === null ? spfTerm(host) : `${spfTerm(host)} ${SES_TERM}`
  return {
    mx: mailHosts.map((target) => ({ priority: MX_PRIORITY, target })),
    spf: { name: domain.name, value: `v=spf1 ${senders} ~all` },
    dmarc: { name: `_dmarc.${domain.name}`, value: `v=DMARC1; p=none; rua=mailto:dmarc@${host}` },
    dkim: [...domain.dkim, ...(domain.sesTokens ?? []).map((token) => sesRecord(token, domain.name))],
    verification: { name: `_mail-verify.${domain.name}`, value: `mail-verification=${domain.token}` },
  }
}

/** Points at a key that Amazon keeps, and changes as it likes. */
function sesRecord(token: string, name: string): DnsRecord {
  return { name: `${token}._domainkey.${name}`, value: `${token}.dkim.amazonses.com` }
}

/** A record whose value is a host name is a CNAME, all others are TXT. */
export function isCname({ value }: DnsRecord): boolean {
  return !/[= ]/.test(value)
}

/** What an SPF record must name for this appliance to be allowed to send. */
export function spfTerm(mailHost: string): string {
  return `include:_spf.${mailHost}`
}

/** A record with its type, as it stands in a zone. */
export interface ZoneRecord {
  name: string
  type: 'MX' | 'TXT'
  value: string
}

/**
 * What a mail host needs beside what every domain has: that mail may leave from it, that reports about single mails come back to it, and
 * that others may send it their DMARC reports about our domains (RFC 7489 7.1).
 * @param bounces where bounces go
 */
export function hostRecords(host: string, bounces: string): ZoneRecord[] {
  return [
    { name: `_spf.${host}`, type: 'TXT', value: `v=spf1 a:${host} -all` },
    { name: bounces, type: 'MX', value: `${MX_PRIORITY} ${host}` },
    { name: bounces, type: 'TXT', value: `v=spf1 ${spfTerm(host)} -all` },
    { name: `*._report._dmarc.${host}`, type: 'TXT', value: 'v=DMARC1' },
  ]
}
