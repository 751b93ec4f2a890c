// Whether blocklists that many receivers ask name the addresses of this machine (RFC 5782).

import { isPublicAddress } from '../../base/public-address.ts'
import type { Resolver } from '../../base/resolver.ts'
import { askList, testList } from '../../net/blocklist.ts'
import { reversedLabels } from '../../net/reverse-name.ts'
import { type Finding, fine, warning } from './finding.ts'

interface Blocklist {
  name: string
  zone: string
  /** Where its owner removes an address. */
  removal: string
}

/** Asked about our own addresses, once in a look: their terms allow that for a server of any size. */
export const OWN_ADDRESS_LISTS: readonly Blocklist[] = [
  { name: 'Spamhaus ZEN', zone: 'zen.spamhaus.org', removal: 'https://check.spamhaus.org' },
  { name: 'SpamCop', zone: 'bl.spamcop.net', removal: 'https://www.spamcop.net/bl.shtml' },
  { name: 'PSBL', zone: 'psbl.surriel.com', removal: 'https://psbl.org' },
]

/** A list that fails its test is not believed: from a public resolver, for example, each of these refuses every question. */
export async function checkListings(resolver: Resolver, addresses: readonly string[]): Promise<Finding[]> {
  const publicOnes = addresses.filter(isPublicAddress)
  if (publicOnes.length === 0) return []
  const findings = await Promise.all(OWN_ADDRESS_LISTS.map((list) => checkList(resolver, list, publicOnes)))
  return findings.flat()
}

async function checkList(resolver: Resolver, list: Blocklist, addresses: readonly string[]): Promise<Finding[]> {
  if ((await testList(resolver, 'address', list.zone)) !== 'usable') {
    const advice = 'Set DNS_SERVERS to a resolver of your own: the list refuses questions of large public ones.'
    return [warning('listing', `${list.name} was not checked: it does not answer this resolver.`, advice)]
  }
  const answers = await Promise.all(
    addresses.map(async (address) => {
      return { address, answer: await askList(resolver, `${reversedLabels(address)}.${list.zone}`) }
    }),
  )
  const listed = answers.filter(({ answer }) => answer === 'listed').map(({ address }) => address)
  if (listed.length > 0) {
    const advice = `Ask for its removal at ${list.removal}; many servers refuse mail from it until then.`
    return [warning('listing', `${list.name} lists ${listed.join(', ')}.`, advice)]
  }
  if (answers.some(({ answer }) => answer === 'error')) {
    return [warning('listing', `${list.name} did not answer about every address.`, 'Check again later.')]
  }
  return [fine('listing', `${list.name} lists none of the addresses of this machine.`)]
}
