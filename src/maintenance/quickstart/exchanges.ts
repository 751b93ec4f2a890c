// Which servers receive the mail of a domain now, by its MX records.

import type { Resolver } from '../../base/resolver.ts'
import { lookUpMx } from '../../directory/names/dns-lookup.ts'
import { type Finding, fine, warning } from '../doctor/finding.ts'

/** Ends of the names of mail servers, and who runs them. */
const OPERATORS: readonly [end: string, name: string][] = [
  ['.google.com', 'Google'],
  ['.googlemail.com', 'Google'],
  ['.outlook.com', 'Microsoft 365'],
  ['.protonmail.ch', 'Proton'],
  ['.messagingengine.com', 'Fastmail'],
  ['.zoho.com', 'Zoho'],
  ['.zoho.eu', 'Zoho'],
  ['.icloud.com', 'iCloud'],
  ['.yandex.net', 'Yandex'],
  ['.mailbox.org', 'mailbox.org'],
  ['.migadu.com', 'Migadu'],
  ['.gandi.net', 'Gandi'],
  ['.ovh.net', 'OVH'],
  ['.ionos.com', 'IONOS'],
  ['.kundenserver.de', 'IONOS'],
]
const SHOWN_MAX = 5

/** @param hosts names of this server */
export async function checkExchanges(resolver: Resolver, domain: string, hosts: readonly string[]): Promise<Finding[]> {
  const { values, definite } = await lookUpMx(resolver, domain)
  if (!definite) {
    const advice = 'Check the network and DNS_SERVERS.'
    return [warning('exchange', `No name server answered for the MX records of ${domain}.`, advice)]
  }
  const exchanges = values.map((value) => value.slice(value.indexOf(' ') + 1)).filter((host) => host !== '')
  if (exchanges.length === 0) return [fine('exchange', `No server receives mail for ${domain} yet.`)]
  const others = exchanges.filter((host) => !hosts.includes(host))
  if (others.length === 0) return [fine('exchange', `Mail for ${domain} comes to this server.`)]
  const operator = OPERATORS.find(([end]) => others.some((host) => host.endsWith(end)))
  const names = others.slice(0, SHOWN_MAX).join(', ')
  const says = `Mail for ${domain} goes to ${names}${operator === undefined ? '' : ` (${operator[1]})`} now.`
  const advice =
    'Publish the MX record last, and remove these in the same step: from then on mail arrives here. An outside account copies the mailboxes first.'
  return [warning('exchange', says, advice)]
}
