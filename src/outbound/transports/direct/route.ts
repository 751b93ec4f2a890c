// Finds the mail servers of a domain in DNS (RFC 5321 §5.1).

import { randomInt } from 'node:crypto'
import { isIP } from 'node:net'
import { ALIAS_LOOP, hasAliasLoop, type Resolver } from '../../../base/resolver.ts'
import { NO_ROUTE } from '../smtp/errors.ts'

/** Maximum number of mail servers tried per domain. */
export const HOSTS_MAX = 5

/** The result of a route lookup. */
export type MxRoute =
  /** Host names, or one IP address, in the order of attempts. */
  | {
      kind: 'hosts'
      hosts: string[]
      /** DNSSEC has validated that these are the servers. */
      isAuthentic?: true
    }
  /** A permanent failure: the domain has no usable mail server. */
  | { kind: 'never'; sentence: string; enhancedCode: string }
  /** A temporary failure of DNS. */
  | { kind: 'later'; sentence: string }

interface MailExchange {
  priority: number
  exchange: string
}

/**
 * @param domain lower-case A-labels, or an address literal in brackets
 * @param ownNames names of this appliance, lower-case
 */
export async function findRoute(resolver: Resolver, domain: string, ownNames: readonly string[]): Promise<MxRoute> {
  if (domain.startsWith('[')) return literal(domain)
  const { records, code, isAuthentic } = await exchangesOf(resolver, domain)
  const authentic = isAuthentic ? { isAuthentic } : {}
  if (code !== null) {
    const route = await withoutMx(resolver, domain, code)
    return route.kind === 'hosts' ? { ...route, ...authentic } : route
  }
  const named = records.map(({ priority, exchange }) => ({ priority, host: exchange.toLowerCase().replace(/\.$/, '') }))
  // Null MX (RFC 7505 §3): a single record with an empty name.
  if (named.every(({ host }) => host === '')) {
    return { kind: 'never', sentence: `${domain} accepts no mail (null MX).`, enhancedCode: '5.1.10' }
  }
  const hosts = named.filter(({ host }) => host !== '')
  const own = hosts.filter(({ host }) => ownNames.includes(host)).map(({ priority }) => priority)
  // RFC 5321 §5.1: ignore hosts with the same or a higher preference value than ours; they would return the message to us.
  const nearer = hosts.filter(({ priority }) => priority < Math.min(...own, Number.POSITIVE_INFINITY))
  if (nearer.length > 0) return { kind: 'hosts', hosts: inOrder(nearer).slice(0, HOSTS_MAX), ...authentic }
  const sentence = `The DNS of ${domain} names this appliance as its mail server, but it accepts no mail for ${domain}.`
  return { kind: 'never', sentence, enhancedCode: '5.4.6' }
}

interface Exchanges {
  records: readonly MailExchange[]
  /** The code of an answer without records; null with them. */
  code: string | null
  isAuthentic: boolean
}

async function exchangesOf(resolver: Resolver, domain: string): Promise<Exchanges> {
  if (resolver.authenticated !== undefined) {
    const answer = await resolver.authenticated(domain, 'MX')
    return { ...answer, records: answer.records as readonly MailExchange[] }
  }
  try {
    const records = (await resolver.resolve(domain, 'MX')) as MailExchange[]
    return { records, code: null, isAuthentic: false }
  } catch (error) {
    return { records: [], code: (error as { code?: string }).code ?? '', isAuthentic: false }
  }
}

function literal(domain: string): MxRoute {
  const address = domain.slice(1, -1).replace(/^ipv6:/i, '')
  if (isIP(address) !== 0) return { kind: 'hosts', hosts: [address] }
  return { kind: 'never', sentence: `${domain} is not a valid address literal.`, enhancedCode: '5.1.2' }
}

async function withoutMx(resolver: Resolver, domain: string, code: string): Promise<MxRoute> {
  // RFC 5321 §5.1: implicit MX, the domain itself is the mail server.
  if (code === 'ENODATA') return { kind: 'hosts', hosts: [domain] }
  if (code === 'ENOTFOUND' || code === 'EBADNAME') {
    return { kind: 'never', sentence: `There is no domain ${domain}.`, enhancedCode: '5.1.2' }
  }
  if (code === ALIAS_LOOP || (code === 'ESERVFAIL' && (await hasAliasLoop(resolver, domain)))) {
    // RFC 1034 §3.6.2: a loop is an error of the zone, not a failure of a server.
    return { kind: 'never', sentence: `The aliases (CNAME) of ${domain} form a loop in DNS.`, enhancedCode: NO_ROUTE }
  }
  return { kind: 'later', sentence: `DNS does not answer for ${domain}.` }
}

/** Sorted by preference; equal preferences are shuffled to spread the load (RFC 5321 §5.1). */
function inOrder(hosts: readonly { priority: number; host: string }[]): string[] {
  const drawn = hosts.map((host) => ({ ...host, lot: randomInt(2 ** 32) }))
  const sorted = drawn.sort((a, b) => a.priority - b.priority || a.lot - b.lot)
  return [...new Set(sorted.map(({ host }) => host))]
}
