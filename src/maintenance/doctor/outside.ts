// Connects to port 25 in both directions: to this machine by its public name, and to mail servers of others.

import type { Resolver } from '../../base/resolver.ts'
import type { Config } from '../../config/config.ts'
import { isReserved } from '../../directory/names/domain-name.ts'
import { type Finding, failing, fine, warning } from './finding.ts'
import { converse } from './smtp-port.ts'

const SMTP_PORT = 25
const TIMEOUT_MS = 5000
/** Addresses of the mail host that are tried, and mail servers of others. */
const TRIED_MAX = 2
/** Whose mail servers are greeted and left again: large enough that one of them is always there. */
const OTHERS = ['gmail.com', 'outlook.com']

interface MailExchange {
  exchange: string
  priority: number
}

/** Says that nothing was tried; a trial has nothing to try. */
export function notTried(config: Config): Finding[] {
  if (isReserved(config.MAIL_HOSTS[0]!)) return []
  const says =
    'Port 25 was not tried: mailstead doctor --outside connects to that of this machine and of a large mail service.'
  return [fine('port_25', says)]
}

/** Greets our own mail host as a stranger would. @param port another one only for tests */
export async function checkInboundPort(resolver: Resolver, config: Config, port = SMTP_PORT): Promise<Finding[]> {
  const host = config.MAIL_HOSTS[0]!
  if (isReserved(host)) return []
  const addresses = await ask<string>(resolver, host, 'A').then(async (found) =>
    found.length > 0 ? found : ask<string>(resolver, host, 'AAAA'),
  )
  // A host without addresses is reported by another check.
  return Promise.all(addresses.slice(0, TRIED_MAX).map((address) => greet(host, address, port)))
}

async function greet(host: string, address: string, port: number): Promise<Finding> {
  const { said, failure } = await converse(address, port, TIMEOUT_MS)
  const [, name] = /^220[ -](\S+)/.exec(said) ?? []
  if (name?.toLowerCase() === host) return fine('port_25_in', `Port ${port} of ${address} greets as ${host}.`)
  if (name !== undefined) {
    const says = `Port ${port} of ${address} greets as ${name}, not as ${host}.`
    return failing('port_25_in', says, 'Another program or machine answers there: forward the port to SMTP_PORT.')
  }
  const says = `Port ${port} of ${address} did not greet (${failure ?? 'another reply'}).`
  const advice =
    'Forward it to SMTP_PORT in the firewall and the router. Some routers do not forward connections from inside: try from another network.'
  return warning('port_25_in', says, advice)
}

/** Greets a mail server of others and leaves. Many providers of networks close this port. */
export async function checkOutboundPort(resolver: Resolver, config: Config): Promise<Finding[]> {
  if (isReserved(config.MAIL_HOSTS[0]!)) return []
  if (!config.DIRECT_DELIVERY) return [fine('port_25_out', 'Messages are sent through sending accounts only.')]
  const failures: string[] = []
  for (const domain of OTHERS) {
    const [first] = (await ask<MailExchange>(resolver, domain, 'MX')).sort((a, b) => a.priority - b.priority)
    if (first === undefined) continue
    const { said, failure } = await converse(first.exchange, config.DIRECT_PORT, TIMEOUT_MS)
    if (/^220[ -]/.test(said)) {
      return [
        fine('port_25_out', `Port ${config.DIRECT_PORT} of ${first.exchange} answers: direct delivery is possible.`),
      ]
    }
    failures.push(`${first.exchange}: ${failure ?? 'another reply'}`)
  }
  if (failures.length === 0) {
    const says = `No name server answered for the MX records of ${OTHERS.join(' and ')}.`
    return [warning('port_25_out', says, 'Check the network and DNS_SERVERS, then run mailstead doctor again.')]
  }
  const says = `Port ${config.DIRECT_PORT} of other mail servers does not answer (${failures.join('; ')}): mail cannot be sent.`
  const advice =
    'Ask the network provider to open it, or connect a relay with mailstead provider create, or in the console under Sending.'
  return [failing('port_25_out', says, advice)]
}

async function ask<T>(resolver: Resolver, name: string, type: string): Promise<T[]> {
  return (await resolver.resolve(name, type).catch(() => [])) as T[]
}
