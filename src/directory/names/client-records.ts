// The DNS records by which mail programs find their settings (RFC 6186, RFC 8314 §5.1, RFC 5804 §1.8): recommended, never required.

import { isIP } from 'node:net'
import type { Resolver } from '../../base/resolver.ts'
import { CLIENT_LISTENERS, type ClientListener } from '../../config/client-listeners.ts'
import { type ClientPorts, clientHost, publicPort } from '../../config/client-protocols.ts'
import type { Config } from '../../config/config.ts'
import { type DnsLookup, lookUp, lookUpCname, shown } from './dns-lookup.ts'
import { isHostName } from './domain-name.ts'

/** A record for mail programs. */
export interface ClientRecord {
  name: string
  type: 'SRV' | 'CNAME'
  /** SRV: priority, weight, port and host; CNAME: the host. */
  value: string
}

/** A record for mail programs, and what DNS has. */
export interface ClientRecordCheck extends ClientRecord {
  /** Empty also when no name server answered. */
  found: string[]
  ok: boolean
}

type Settings = ClientPorts & Pick<Config, 'APP_ORIGIN' | 'CLIENT_PROTOCOLS'>

const SERVICES: Readonly<Record<ClientListener, string>> = {
  imaps: '_imaps._tcp',
  imap: '_imap._tcp',
  submissions: '_submissions._tcp',
  submission: '_submission._tcp',
  managesieve: '_sieve._tcp',
}
/** RFC 6186 §3.4: the service is not available at this domain. */
const NOT_SERVED = '0 0 0 .'

/** The records of a domain; none when no protocol is served. */
export function clientRecords(domain: string, config: Settings): ClientRecord[] {
  if (config.CLIENT_PROTOCOLS.length === 0) return []
  const served: readonly ClientListener[] = config.CLIENT_PROTOCOLS
  const services = CLIENT_LISTENERS.map((name): ClientRecord => {
    const value = served.includes(name) ? `0 1 ${publicPort(config, name)} ${clientHost(config)}` : NOT_SERVED
    return { name: `${SERVICES[name]}.${domain}`, type: 'SRV', value }
  })
  return [...services, ...documentRecords(domain, new URL(config.APP_ORIGIN))]
}

/** What leads to the documents of autoconfiguration; none in a trial, whose origin is an address or `localhost`. */
function documentRecords(domain: string, { hostname, port, protocol }: URL): ClientRecord[] {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || !isHostName(hostname)) return []
  const value = `0 1 ${port || (protocol === 'https:' ? 443 : 80)} ${hostname}`
  return [
    { name: `_autodiscover._tcp.${domain}`, type: 'SRV', value },
    { name: `autoconfig.${domain}`, type: 'CNAME', value: hostname },
    { name: `autodiscover.${domain}`, type: 'CNAME', value: hostname },
  ]
}

/** Looks up the records, bypassing the cache. */
export function checkClientRecords(resolver: Resolver, records: readonly ClientRecord[]): Promise<ClientRecordCheck[]> {
  return Promise.all(
    records.map(async (record) => {
      const { values, ok } = await (record.type === 'SRV' ? findService(resolver, record) : findHost(resolver, record))
      return { ...record, found: shown(values), ok }
    }),
  )
}

interface FoundRecord {
  values: string[]
  ok: boolean
}

/** Priority and weight are the owner's choice. Without a record programs know nothing of the service: that is right for one not served. */
async function findService(resolver: Resolver, { name, value }: ClientRecord): Promise<FoundRecord> {
  const { values } = await lookUpSrv(resolver, name)
  const target = targetOf(value)
  if (value === NOT_SERVED) return { values, ok: values.every((one) => targetOf(one) === target) }
  return { values, ok: values.some((one) => targetOf(one) === target) }
}

/** Port and host of an SRV record. */
function targetOf(value: string): string {
  return value.split(' ').slice(2).join(' ')
}

function lookUpSrv(resolver: Resolver, name: string): Promise<DnsLookup> {
  type Service = { priority: number; weight: number; port: number; name: string }
  return lookUp(resolver, name, 'SRV', (answer) =>
    (answer as Service[]).map(
      ({ priority, weight, port, name: host }) =>
        `${priority} ${weight} ${port} ${host.toLowerCase().replace(/\.$/, '') || '.'}`,
    ),
  )
}

/** An alias of the host, or a name with one of its addresses. */
async function findHost(resolver: Resolver, { name, value }: ClientRecord): Promise<FoundRecord> {
  const alias = await lookUpCname(resolver, name)
  if (alias.values.length > 0) return { values: alias.values, ok: alias.values.includes(value) }
  const [own, wanted] = await Promise.all([addressesOf(resolver, name), addressesOf(resolver, value)])
  return { values: own, ok: own.some((address) => wanted.includes(address)) }
}

async function addressesOf(resolver: Resolver, name: string): Promise<string[]> {
  const answers = await Promise.all(
    ['A', 'AAAA'].map((type) => lookUp(resolver, name, type, (answer) => answer as string[])),
  )
  return answers.flatMap(({ values }) => values)
}
