// DNS records of dns-packet in the forms of node:dns.

/** How the data of each record type is presented, as node:dns does. */
export const RECORD_FORMS = new Map<string, (data: never) => unknown>([
  ['A', (data: string) => data],
  ['AAAA', (data: string) => data],
  ['CNAME', (data: string) => data],
  ['NS', (data: string) => data],
  ['PTR', (data: string) => data],
  ['MX', (data: { preference: number; exchange: string }) => ({ priority: data.preference, exchange: hostOf(data) })],
  [
    'SRV',
    (data: { priority: number; weight: number; port: number; target: string }) => ({
      ...{ priority: data.priority, weight: data.weight, port: data.port },
      name: data.target === '.' ? '' : data.target,
    }),
  ],
  // One character per byte, as in node:dns: bytes beyond ASCII stay recognisable.
  ['TXT', (data: Buffer[]) => data.map((part) => part.toString('latin1'))],
  [
    'CAA',
    (data: { flags: number; tag: string; value: string }) => ({
      ...{ critical: data.flags, tag: data.tag },
      value: data.value,
    }),
  ],
  // Whether there is one is all that is asked.
  ['DS', (data: { keyTag: number }) => data.keyTag],
  [
    'TLSA',
    (data: { usage: number; selector: number; matchingType: number; certificate: Buffer }) => ({
      certUsage: data.usage,
      selector: data.selector,
      match: data.matchingType,
      data: new Uint8Array(data.certificate),
    }),
  ],
])

/** The null MX of RFC 7505 is "" in node:dns. */
function hostOf(data: { exchange: string }): string {
  return data.exchange === '.' ? '' : data.exchange
}
