// The checks of `mailstead quickstart` before it changes anything: name, addresses, ports, blocklists, and the current mail servers of the domain.

import { isIP } from 'node:net'
import { systemClock } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { openResolver, type Resolver } from '../../base/resolver.ts'
import type { Config } from '../../config/config.ts'
import { isLoopbackName, isReserved } from '../../config/reserved-names.ts'
import { domainName, isHostName } from '../../directory/names/domain-name.ts'
import type { Finding } from '../../maintenance/doctor/finding.ts'
import { checkListings } from '../../maintenance/doctor/listings.ts'
import { checkFolder } from '../../maintenance/doctor/machine.ts'
import { checkOutboundPort } from '../../maintenance/doctor/outside.ts'
import { checkExchanges } from '../../maintenance/quickstart/exchanges.ts'
import {
  addressFindings,
  confirmedName,
  findOwnAddresses,
  interfaceAddresses,
  type OwnAddress,
} from '../../maintenance/quickstart/own-addresses.ts'
import { arePortsPublished, type Plan, planSettings } from '../../maintenance/quickstart/plan.ts'
import { checkFreePorts, isRunning } from '../../maintenance/quickstart/ports.ts'
import { checkPersonEmail } from '../../people/members.ts'
import type { Call } from '../frame/command.ts'

export interface Outlook {
  /** Of the owner and the first mailbox, lower case. */
  email: string
  domain: string
  host: string
  addresses: OwnAddress[]
  plan: Plan
  /** Whether the appliance runs now. */
  runs: boolean
  /** The data folder is there: a first set-up was done. */
  isComplete: boolean
  sections: { title: string; findings: Finding[] }[]
}

/** @throws ProductError validation_error, invalid_parameter */
export async function examine(call: Call): Promise<Outlook> {
  const { config } = call
  const email = checkPersonEmail(call.operands[0]!)
  const domain = domainName(email.slice(email.lastIndexOf('@') + 1))
  if (domain === null || !isHostName(domain)) {
    throw new ProductError('invalid_parameter', 'The address must be at a domain of yours, such as ana@example.com.')
  }
  const resolver = openResolver({ servers: config.DNS_SERVERS, clock: systemClock })
  try {
    return await examineWith(call, resolver, { email, domain })
  } finally {
    await resolver.close()
  }
}

async function examineWith(
  call: Call,
  resolver: Resolver,
  { email, domain }: { email: string; domain: string },
): Promise<Outlook> {
  const { config } = call
  const options = addressOptions(call)
  const interfaces = interfaceAddresses()
  const presumed = hostOption(call) ?? currentHost(config) ?? `mail.${domain}`
  const addresses = isReserved(presumed)
    ? []
    : await findOwnAddresses(resolver, { options, interfaces, host: presumed })
  const host =
    hostOption(call) ?? currentHost(config) ?? (await confirmedName(resolver, addresses, domain)) ?? `mail.${domain}`
  const keepsPorts = call.has('keep-ports') || arePortsPublished(config)
  const plan = planSettings(config, { host, email, addresses, keepsPorts })
  const runs = await isRunning(config)
  const isComplete = (await checkFolder(config.DATA_DIR)).level === 'ok'
  const facts = { email, domain, host, addresses, plan, runs, isComplete }
  return { ...facts, sections: await sectionsOf(resolver, config, facts) }
}

async function sectionsOf(
  resolver: Resolver,
  config: Config,
  { domain, host, addresses, plan, runs }: Omit<Outlook, 'sections'>,
): Promise<Outlook['sections']> {
  const { planned } = plan
  const isTrial = isReserved(host)
  const sections = [
    { title: 'Addresses', findings: isTrial ? [] : addressFindings(addresses, host) },
    {
      title: 'Ports',
      findings: [...(await checkFreePorts(planned, config, runs)), ...(await checkOutboundPort(resolver, planned))],
    },
    {
      title: 'Blocklists',
      findings: await checkListings(
        resolver,
        addresses.map(({ address }) => address),
      ),
    },
    {
      title: 'Mail now',
      findings: isReserved(domain) ? [] : await checkExchanges(resolver, domain, planned.MAIL_HOSTS),
    },
    { title: 'Settings', findings: plan.findings },
  ]
  return sections.filter(({ title, findings }) => findings.length > 0 || title === 'Settings')
}

/** @throws ProductError invalid_parameter */
function hostOption(call: Call): string | undefined {
  const written = call.text('host')
  if (written === undefined) return undefined
  const host = domainName(written)
  if (host !== null && isHostName(host)) return host
  throw new ProductError('invalid_parameter', '--host must be a host name, such as mail.example.com.')
}

/** The name that was chosen before; undefined in a trial. */
function currentHost({ MAIL_HOSTS }: Config): string | undefined {
  const [host] = MAIL_HOSTS
  return isLoopbackName(host!) ? undefined : host
}

/** @throws ProductError invalid_parameter */
function addressOptions(call: Call): readonly string[] {
  const addresses = call.all('address')
  const wrong = addresses.find((address) => isIP(address) === 0)
  if (wrong === undefined) return addresses
  throw new ProductError('invalid_parameter', `--address must be an IP address; ${wrong} is none.`)
}
