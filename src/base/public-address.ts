// Which IP addresses are public: foreign input must not direct connections into private networks (SSRF).

import ipaddr from 'ipaddr.js'

/** The one range global unicast addresses are assigned from (RFC 4291 §2.4, IANA); every other range is special or unassigned. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

/** `::a.b.c.d`, which ipaddr.js treats as a mapped address. */
const IPV4_COMPATIBLE = /^::\d+\.\d/

/**
 * True for a public unicast address; in IPv6 that is 2000::/3 without its special ranges. False for loopback,
 * private, link-local and shared ranges, for multicast, reserved and unassigned ranges, for all forms that embed an IPv4
 * address inside an IPv6 one (NAT64, 6to4, Teredo, IPv4-compatible, IPv4-translated…), for an address with a
 * zone, and for text that is not an address. An IPv4-mapped address is treated as the IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || IPV4_COMPATIBLE.test(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return !(parsed instanceof ipaddr.IPv6) || (parsed.zoneId === undefined && parsed.match(GLOBAL_UNICAST))
}
