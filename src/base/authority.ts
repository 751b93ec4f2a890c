// Finds the authoritative name servers of a name: they return a new record as soon as it is published.

import type { NameServer } from './dns-exchange.ts'
import { isPublicAddress } from './public-address.ts'

/** Maximum number of name servers of a zone that are looked up, and of addresses returned. */
const SERVERS_MAX = 4
const PORT = 53

type Resolve = (name: string, type: string) => Promise<unknown[]>

/**
 * Walks up from the name to its zone. Empty when the zone cannot be found or its servers have no public address:
 * the zone is foreign data, and must not direct queries into our own network.
 */
export async function authoritiesOf(name: string, resolve: Resolve): Promise<NameServer[]> {
  for (let zone = name; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1)) {
    const hosts = await lookUp(zone, 'NS', resolve)
    if (hosts === null) return []
    if (hosts.length === 0) continue
    const servers = await Promise.all(hosts.slice(0, SERVERS_MAX).map((host) => serversOf(host, resolve)))
    return servers
      .flat()
      .filter(({ address }) => isPublicAddress(address))
      .slice(0, SERVERS_MAX)
  }
  return []
}

async function serversOf(host: string, resolve: Resolve): Promise<NameServer[]> {
  const v4 = await lookUp(host, 'A', resolve)
  const addresses = v4 !== null && v4.length > 0 ? v4 : ((await lookUp(host, 'AAAA', resolve)) ?? [])
  return addresses.map((address) => ({ address, port: PORT, name: host.toLowerCase() }))
}

/** Records; an empty list when there are none, null when the lookup failed. */
async function lookUp(name: string, type: string, resolve: Resolve): Promise<string[] | null> {
  try {
    return (await resolve(name, type)) as string[]
  } catch (error) {
    const { code } = error as { code?: string }
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
  }
}
