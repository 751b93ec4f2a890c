// Open connections, counted by where they come from.

import ipaddr from 'ipaddr.js'

/** Limits of open connections: in all, and of one source. */
export interface ConnectionLimits {
  total: number
  perAddress: number
}

export class Connections {
  readonly #limits: ConnectionLimits
  readonly #bySource = new Map<string, number>()
  #total = 0

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  get total(): number {
    return this.#total
  }

  /** Takes a place for a fresh socket. @returns false when there is none; true obliges to `leave` */
  enter(): boolean {
    if (this.#total >= this.#limits.total) return false
    this.#total++
    return true
  }

  leave(): void {
    this.#total--
  }

  /** Counts a connection for its source. @returns how to end the count, or null when the source has too many */
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

/** The plain form of an address: IPv4 inside IPv6 as IPv4, IPv6 in its short spelling. */
export function plainAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : address
}

/** What counts as one source: an IPv4 address, or the /64 of an IPv6 one, which a single customer is given. */
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
