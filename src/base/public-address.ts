// Which IP addresses lie in the open network: what strangers name must never lead us inside.

import ipaddr from 'ipaddr.js'

/**
 * True for a plain unicast address of the open network. False for loopback, private, link-local and shared ranges, for multicast
 * and what is reserved, for the forms that carry an IPv4 address inside an IPv6 one (NAT64, 6to4, Teredo…) whatever that is, and
 * for text that is no address. An IPv4-mapped address is what it maps to.
 */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast'
}
