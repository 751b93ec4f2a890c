// The public addresses of this machine: of its interfaces, or of its name in DNS, and the name that each leads back to.

import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isPublicAddress } from '../../base/public-address.ts'
import type { Resolver } from '../../base/resolver.ts'
import { plainAddress } from '../../net/connections.ts'
import { reverseName } from '../../net/reverse-name.ts'
import { type Finding, failing, fine, warning } from '../doctor/finding.ts'
import { ADDRESSES_MAX, askRecord } from '../doctor/mail-host.ts'

export interface OwnAddress {
  address: string
  isIpv6: boolean
  /** The PTR records, lower case. */
  names: string[]
  /** Whether DNS has answered about them. */
  isSure: boolean
}

/** Public addresses of the network interfaces; none behind address translation. */
export function interfaceAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return [...new Set(all.map(({ address }) => plainAddress(address)).filter(isPublicAddress))]
}

/**
 * @param options addresses of the command line: they replace all others
 * @param host asked for its addresses where the interfaces have none
 */
export async function findOwnAddresses(
  resolver: Resolver,
  { options, interfaces, host }: { options: readonly string[]; interfaces: readonly string[]; host: string },
): Promise<OwnAddress[]> {
  let addresses = options.length > 0 ? options : interfaces
  if (addresses.length === 0) {
    const answers = await Promise.all(['A', 'AAAA'].map((type) => askRecord(resolver, host, type)))
    addresses = answers.flatMap(({ values }) => values).filter(isPublicAddress)
  }
  return Promise.all(
    addresses.slice(0, ADDRESSES_MAX).map(async (address) => {
      const { values, sure } = await askRecord(resolver, reverseName(address), 'PTR')
      return { address, isIpv6: isIPv6(address), names: values, isSure: sure }
    }),
  )
}

/** The name below the domain that an address leads to and that leads back to it (RFC 8601 §2.7.3); undefined without one. */
export async function confirmedName(
  resolver: Resolver,
  addresses: readonly OwnAddress[],
  domain: string,
): Promise<string | undefined> {
  for (const { address, isIpv6, names } of addresses) {
    for (const name of names.filter((each) => each.endsWith(`.${domain}`))) {
      const { values } = await askRecord(resolver, name, isIpv6 ? 'AAAA' : 'A')
      if (values.includes(address)) return name
    }
  }
  return undefined
}

/** Whether mail leaves over IPv6: only where each of its addresses leads back to a name, or there is nothing else. */
export function sendsOverIpv6(addresses: readonly OwnAddress[]): boolean {
  const six = addresses.filter(({ isIpv6 }) => isIpv6)
  if (six.length === addresses.length) return true
  return six.every(({ names }) => names.length > 0)
}

export function addressFindings(addresses: readonly OwnAddress[], host: string): Finding[] {
  if (addresses.length > 0) return addresses.map((each) => addressFinding(each, host, sendsOverIpv6(addresses)))
  const says = 'No public address was found: the interfaces have private ones, and DNS has none for the name.'
  return [failing('address', says, 'Name the address under which the internet reaches this machine with --address.')]
}

function addressFinding({ address, isIpv6, names, isSure }: OwnAddress, host: string, usesIpv6: boolean): Finding {
  const advice = `Ask the provider of the address to set its PTR record to ${host}: many servers refuse mail without it.`
  if (names.includes(host)) return fine('address', `${address} leads back to ${host}.`)
  if (!isSure) return warning('address', `No name server answered for the PTR record of ${address}.`, advice)
  if (names.length > 0) return warning('address', `The PTR record of ${address} is ${names[0]}, not ${host}.`, advice)
  const unused = isIpv6 && !usesIpv6 ? ' It is not used for sending.' : ''
  return warning('address', `${address} has no PTR record.${unused}`, advice)
}
