// Counts open connections (in total, per source address, and per mailbox), finds the source of a new one, and refuses it.

import { isIPv4, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Clock } from '../base/clock.ts'
import { takeProxyHeader } from './proxy-protocol.ts'

/** Limits of open connections: in total, per source, and per mailbox (listeners with sign-in). */
export interface ConnectionLimits {
  total: number
  perAddress: number
  perMailbox?: number
}

/** Connections of one listener, or of several that share their limits. */
export class ConnectionCounter {
  readonly #limits: ConnectionLimits
  readonly #bySource = new Map<string, number>()
  readonly #byMailbox = new Map<string, number>()
  #total = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  get total(): number {
    return this.#total
  }

  /** Counts a new socket. @returns false when the total limit is reached; after true the caller must call `close` */
  open(): boolean {
    if (this.#total >= this.#limits.total) return false
    this.#total++
    return true
  }

  close(): void {
    this.#total--
  }

  /** Counts a connection for its source. @returns a function that ends the count, or null when the source has too many */
  count(address: string): (() => void) | null {
    return add(this.#bySource, sourceOf(address), this.#limits.perAddress)
  }

  /** Counts a connection that has signed in to a mailbox. @returns as `count` */
  countMailbox(mailboxId: string): (() => void) | null {
    return add(this.#byMailbox, mailboxId, this.#limits.perMailbox ?? Number.POSITIVE_INFINITY)
  }
}

function add(counts: Map<string, number>, key: string, limit: number): (() => void) | null {
  const open = counts.get(key) ?? 0
  if (open >= limit) return null
  counts.set(key, open + 1)
  let isCounted = true
  return () => {
    if (!isCounted) return
    isCounted = false
    const left = counts.get(key)! - 1
    if (left > 0) counts.set(key, left)
    else counts.delete(key)
  }
}

/** Where a connection comes from. */
export interface ConnectionSource {
  address: string
  port: number
  /** True when a trusted proxy reported that the client spoke TLS to it. */
  tls: boolean
}

/**
 * The source of a new connection: its peer or, where that is a proxy of `PROXY_PROTOCOL_FROM`, the client its PROXY header names. A
 * connection of the proxy itself (health check) has the proxy as source. The bytes behind the header stay unread.
 * @returns null when a trusted proxy did not send a valid header
 */
export async function readSource(
  socket: Socket,
  { from, clock }: { from: readonly string[]; clock: Clock },
): Promise<ConnectionSource | null> {
  const own = { address: plainAddress(socket.remoteAddress ?? ''), port: socket.remotePort ?? 0, tls: false }
  if (!isListed(own.address, from)) return own
  const header = await takeProxyHeader(socket, clock)
  if (header === 'wrong') return null
  if (header.source === null) return own
  const { address, port, tls = false } = header.source
  return { address: plainAddress(address), port, tls }
}

/** Ends a connection that is not served. @param line its last line; null where none can be sent */
export function refuseConnection(socket: Socket, line: string | null): void {
  if (socket.destroyed) return
  if (line !== null) socket.write(`${line}\r\n`)
  // Unread bytes would reset the connection, and the reply could be lost.
  socket.resume()
  socket.destroySoon()
}

/** The canonical form of an address: IPv4-mapped IPv6 as IPv4, IPv6 compressed. */
export function plainAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}

/** The source of an address: the IPv4 address itself, or the /64 prefix of an IPv6 address, the usual size for one customer. */
export function sourceOf(address: string): string {
  // Asked for each command: what Node takes for an IPv4 address has no other form.
  if (isIPv4(address) || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/** The network of a source, as `sourceOf` names it, with a prefix of this length; the source itself where it is no address. */
export function networkOf(source: string, bits: { ipv4: number; ipv6: number }): string {
  const address = source.replace(/\/64$/, '')
  if (!ipaddr.isValid(address)) return source
  const parsed = ipaddr.process(address)
  const length = bits[parsed.kind()]
  const { IPv4, IPv6 } = ipaddr
  const network = parsed.kind() === 'ipv4' ? IPv4 : IPv6
  return `${network.networkAddressFromCIDR(`${parsed.toString()}/${length}`).toString()}/${length}`
}

/** Whether an address is one of a list of addresses and CIDR ranges. */
export function isListed(address: string, ranges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return ranges.some((range) => {
    const [base, bits] = ipaddr.isValidCIDR(range) ? ipaddr.parseCIDR(range) : [ipaddr.process(range), null]
    return base.kind() === parsed.kind() && parsed.match(base, bits ?? (parsed.kind() === 'ipv4' ? 32 : 128))
  })
}
