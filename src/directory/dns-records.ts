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
  selector: string
  /** SPKI in base64. */
  dkimPublic: string
}

const MX_PRIORITY = 10

/** @param mailHosts the names of this appliance, the first one being its own in SMTP */
export function dnsRecords(domain: RecordParts, mailHosts: readonly string[]): DnsRecords {
  const host = mailHosts[0]!
  return {
    mx: mailHosts.map((target) => ({ priority: MX_PRIORITY, target })),
    spf: { name: domain.name, value: `v=spf1 ${spfTerm(host)} ~all` },
    dmarc: { name: `_dmarc.${domain.name}`, value: `v=DMARC1; p=none; rua=mailto:dmarc@${host}` },
    dkim: [{ name: `${domain.selector}._domainkey.${domain.name}`, value: `v=DKIM1; k=rsa; p=${domain.dkimPublic}` }],
    verification: { name: `_mail-verify.${domain.name}`, value: `mail-verification=${domain.token}` },
  }
}

/** What an SPF record must name for this appliance to be allowed to send. */
export function spfTerm(mailHost: string): string {
  return `include:_spf.${mailHost}`
}
