// Counts open connections, in total and per source address.

import ipaddr from 'ipaddr.js'

/** Limits of open connections: in total and per source. */
export interface ConnectionLimits {
  total: number
  perAddress: number
}

export class ConnectionCounter {
  readonly #limits: ConnectionLimits
  readonly #bySource = new Map<string, number>()
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
    const source = sourceOf(address)
    const open = this.#bySource.get(source) ?? 0
    if (open >= this.#limits.perAddress) return null
    this.#bySource.set(source, open + 1)
    return () => {
      const left = this.#bySource.get(source)! - 1
      if (left > 0) this.#bySource.set(source, left)
      else this.#bySource.delete(source)
    }
  }
}

/** The canonical form of an address: IPv4-mapped IPv6 as IPv4, IPv6 compressed. */
export function plainAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}

/** The source of an address: the IPv4 address itself, or the /64 prefix of an IPv6 address, the usual size for one customer. */
export function sourceOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
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
