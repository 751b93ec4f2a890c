// The name servers that speak for a name: who asks them sees a record the moment it is published.

import type { NameServer } from './dns-exchange.ts'
import { isPublicAddress } from './public-address.ts'

/** Name servers of a zone that are looked up, and addresses that are given. */
const SERVERS_MAX = 4
const PORT = 53

type Resolve = (name: string, type: string) => Promise<unknown[]>

/**
 * Walks up from the name to the zone it lies in. Empty when nobody can say, or when the servers are at no public address:
 * a zone belongs to strangers, and what it names inside our own network is not asked.
 */
export async function authoritiesOf(name: string, resolve: Resolve): Promise<NameServer[]> {
  for (let zone = name; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1)) {
    const hosts = await look(zone, 'NS', resolve)
    if (hosts === null) return []
    if (hosts.length === 0) continue
    const addresses = await Promise.all(hosts.slice(0, SERVERS_MAX).map((host) => addressesOf(host, resolve)))
    const usable = addresses.flat().filter(isPublicAddress).slice(0, SERVERS_MAX)
    return usable.map((address) => ({ address, port: PORT }))
  }
  return []
}

async function addressesOf(host: string, resolve: Resolve): Promise<string[]> {
  const v4 = await look(host, 'A', resolve)
  return v4 !== null && v4.length > 0 ? v4 : ((await look(host, 'AAAA', resolve)) ?? [])
}

/** Records; none where there are none, null where nobody knows. */
async function look(name: string, type: string, resolve: Resolve): Promise<string[] | null> {
  try {
    return (await resolve(name, type)) as string[]
  } catch (error) {
    const { code } = error as { code?: string }
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
  }
}
