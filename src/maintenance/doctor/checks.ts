// All checks, in the order they are shown: of the machine, of the ports, and of the opened appliance.

import { resolve } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import type { Resolver } from '../../base/resolver.ts'
import { clientHosts } from '../../config/client-protocols.ts'
import type { Config } from '../../config/config.ts'
import { isReserved } from '../../config/reserved-names.ts'
import { checkAccounts } from './accounts.ts'
import { checkBacklog } from './backlog.ts'
import { checkBackups } from './backup.ts'
import { checkCertificates } from './certificates.ts'
import { checkClientHost, checkClientPorts, checkDocumentNames } from './client-ports.ts'
import { checkClockGuard } from './clock-guard.ts'
import { checkContents } from './contents.ts'
import type { DoctorDeps } from './deps.ts'
import { checkDomains, documentNames } from './domains.ts'
import { type CheckName, type Finding, warning } from './finding.ts'
import { checkListings } from './listings.ts'
import { checkCertificate, checkClock, checkDisk } from './machine.ts'
import { ADDRESSES_MAX, askRecord, checkHosts } from './mail-host.ts'
import { checkInboundPort, checkOutboundPort, notTried } from './outside.ts'
import { checkRemotes } from './remotes.ts'
import { checkSettings } from './settings.ts'
import { checkSmtp } from './smtp-port.ts'
import { checkSpamFilters } from './spam-filters.ts'

/** Runs a group of checks; may bound its time. */
export type RunChecks = (group: CheckName, work: () => Promise<Finding[]>) => Promise<Finding[]>

/** Longest time of one group of checks that need the network, ms. */
export const GROUP_MS = 20_000

/** Of the disk and the clock. The data folder must be there. */
export async function machineChecks(config: Config): Promise<Finding[]> {
  const path = resolve(config.DATA_DIR)
  return [...(await checkDisk(path)), await checkClock(path, systemClock.now())]
}

/** Of the settings, and of the ports as this machine reaches them. */
export async function portChecks(config: Config): Promise<Finding[]> {
  return [...checkSettings(config), await checkSmtp(config), ...(await checkClientPorts(config))]
}

/**
 * Of the certificate, DNS, the domains, the sending accounts and what is overdue.
 * @param outside also connects to this machine by its public names, and to mail servers of others
 * @param ports findings that are shown after those of the certificate
 */
export async function applianceChecks(
  app: DoctorDeps,
  { outside, ports, run = (_, work) => work() }: { outside: boolean; ports: readonly Finding[]; run?: RunChecks },
): Promise<Finding[]> {
  const { config, resolver } = app
  return [
    ...checkCertificate(servedCertificate(app), hostsOf(config), app.clock.now()),
    ...checkCertificates(app),
    ...ports,
    ...(await run('mail_host', () => checkHosts(resolver, config.MAIL_HOSTS))),
    ...(outside ? await run('port_25', () => checkFromOutside(config, resolver)) : notTried(config)),
    ...(await run('spam_filter', () => checkSpamFilters(app))),
    ...(await run('domain', () => checkDomains(app))),
    ...(outside ? await run('autoconfig', () => checkDocumentNames(resolver, documentNames(app))) : []),
    ...checkAccounts(app),
    ...checkRemotes(app),
    ...(await checkBacklog(app)),
    ...(await checkBackups(app)),
    await checkContents(app),
    checkClockGuard(app),
  ]
}

/** Ends the wait for a group of checks after {@link GROUP_MS}: what did not end is a warning. */
export function boundedChecks({ clock }: Pick<DoctorDeps, 'clock'>): RunChecks {
  return async (group, work) => {
    const late = Promise.withResolvers<Finding[]>()
    const seconds = GROUP_MS / 1000
    const timer = clock.after(GROUP_MS, () => {
      const says = `These checks did not end within ${seconds} seconds.`
      late.resolve([warning(group, says, 'Check the network and DNS_SERVERS, or run mailstead doctor on the machine.')])
    })
    try {
      return await Promise.race([work(), late.promise])
    } finally {
      timer.cancel()
    }
  }
}

/** The certificate that the mail listeners serve. */
function servedCertificate({ certificates, folder }: DoctorDeps): string {
  return (certificates.pairs().host ?? folder.tls).cert
}

/** The names senders and mail programs connect to. */
function hostsOf(config: Config): string[] {
  return [...new Set([...config.MAIL_HOSTS, ...clientHosts(config)])]
}

/** Of the name that sends; none in a trial. */
async function ownAddresses({ MAIL_HOSTS: [host] }: Config, resolver: Resolver): Promise<string[]> {
  if (isReserved(host!)) return []
  const answers = await Promise.all(['A', 'AAAA'].map((type) => askRecord(resolver, host!, type)))
  return answers.flatMap(({ values }) => values).slice(0, ADDRESSES_MAX)
}

async function checkFromOutside(config: Config, resolver: Resolver): Promise<Finding[]> {
  return [
    ...(await checkInboundPort(resolver, config)),
    ...(await checkOutboundPort(resolver, config)),
    ...(await checkClientHost(resolver, config)),
    ...(await checkListings(resolver, await ownAddresses(config, resolver))),
  ]
}
