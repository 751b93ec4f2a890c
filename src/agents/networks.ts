// Networks that agents register from: what many addresses of one network may take of the limits all agents share.

import type { Vault } from '../base/secrets.ts'
import { networkOf } from '../net/connections.ts'

/**
 * Columns of `agent_registrations` with the HMAC of a network, narrow to wide, its prefix lengths, and the part of a shared limit that it may
 * take. A /48 has 65,536 sources of three registrations each, and is given away for free.
 */
export const NETWORKS = [
  { column: 'network', bits: { ipv4: 24, ipv6: 48 }, part: 1 / 10 },
  { column: 'wide_network', bits: { ipv4: 16, ipv6: 32 }, part: 1 / 2 },
] as const

/** A network, named by its HMAC, and the part of a shared limit that it may take. */
export interface AgentNetwork {
  column: 'network' | 'wide_network'
  mac: Uint8Array
  part: number
}

/** The networks of a client IP address. */
export function networksOf(vault: Vault, source: string): AgentNetwork[] {
  return NETWORKS.map(({ column, bits, part }) => {
    return { column, mac: vault.mac('agent-network', networkOf(source, bits)), part }
  })
}
