// The DNS records of a domain as rows of a table.

import type { Domain } from '../../directory/domains/domains.ts'

/** What proves the domain comes first: it alone is required. */
export function recordRows({ name, records }: Domain): string[][] {
  const { mx, spf, dkim, dmarc, verification } = records
  const texts = [verification, spf, ...dkim, dmarc].map((record) => [`  ${record.name}`, 'TXT', record.value])
  return [...texts, ...mx.map(({ priority, target }) => [`  ${name}`, 'MX', `${priority} ${target}`])]
}

/** Records for mail programs: recommended, not required. */
export function clientRows({ records }: Domain): string[][] {
  return records.client.map(({ name, type, value }) => [`  ${name}`, type, value])
}

/** MTA-STS and TLS reports: recommended, not required. */
export function tlsRows({ records }: Domain): string[][] {
  return records.tls.map(({ name, type, value }) => [`  ${name}`, type, value])
}
