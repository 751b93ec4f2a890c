// The address a request comes from, through trusted proxies (docs/design/http.md §9).

import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

// More hops than any real chain of proxies has.
const HOPS_MAX = 32

/** Determines sources by the addresses and ranges of `TRUSTED_PROXIES`. */
export class Sources {
  readonly #trusted: Range[]

  constructor(trusted: readonly string[]) {
    this.#trusted = trusted.map(rangeOf)
  }

  /**
   * The address requests are counted for: the peer, or the right-most hop that is not a trusted proxy. IPv6 is reduced to
   * its /64, because one subscriber has at least that many.
   */
  of(peer: string | undefined, forwardedFor: string | undefined): string {
    let source = parse(peer ?? '')
    if (source === null) return 'unknown'
    if (forwardedFor !== undefined && this.#trusted.length > 0) {
      for (const hop of forwardedFor.split(',').slice(-HOPS_MAX).reverse()) {
        if (!this.#trusts(source)) break
        const address = parse(withoutPort(hop.trim()))
        // An unreadable hop ends the chain at the proxy that added it.
        if (address === null) break
        source = address
      }
    }
    return nameOf(source)
  }

  /** Whether a peer is a trusted proxy, whose connections are those of many. */
  isProxy(peer: string): boolean {
    const address = parse(peer)
    return address !== null && this.#trusts(address)
  }

  #trusts(address: Address): boolean {
    return this.#trusted.some(([net, bits]) => net.kind() === address.kind() && address.match(net, bits))
  }
}

function rangeOf(text: string): Range {
  if (text.includes('/')) {
    const [net, bits] = ipaddr.parseCIDR(text)
    return [net, bits]
  }
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function parse(text: string): Address | null {
  // `process` converts an IPv4-mapped IPv6 address to IPv4; the zone of a link-local address has no meaning here.
  const plain = text.split('%', 1)[0]!
  if (plain.includes(':') ? !ipaddr.IPv6.isValid(plain) : !ipaddr.IPv4.isValidFourPartDecimal(plain)) return null
  return ipaddr.process(plain)
}

function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(hop)
  if (bracketed) return bracketed[1]!
  const port = /^([\d.]+):\d+$/.exec(hop)
  return port ? port[1]! : hop
}

function nameOf(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString()
  const parts = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16))
  return `${parts.join(':')}::/64`
}
