// `mailstead doctor`: checks the settings, the machine, DNS and the databases, and advises what to do.

import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import { storageError } from '../base/storage-error.ts'
import { clientHosts } from '../config/client-protocols.ts'
import type { Config } from '../config/config.ts'
import type { Call, Command } from './command.ts'
import { checkAccounts } from './doctor/accounts.ts'
import { checkBacklog } from './doctor/backlog.ts'
import { checkClientHost, checkClientPorts, checkDocumentNames } from './doctor/client-ports.ts'
import { checkClockGuard } from './doctor/clock-guard.ts'
import { checkDatabases } from './doctor/deep.ts'
import { checkDomains, documentNames } from './doctor/domains.ts'
import { type Finding, failing, type Level } from './doctor/finding.ts'
import { checkCertificate, checkClock, checkDisk, checkFolder } from './doctor/machine.ts'
import { checkHosts } from './doctor/mail-host.ts'
import { checkInboundPort, checkOutboundPort, notTried } from './doctor/outside.ts'
import { checkSettings } from './doctor/settings.ts'
import { checkSmtp } from './doctor/smtp-port.ts'

const MARKS = { ok: '  ok    ', warn: '  warn  ', fail: '  FAIL  ' }
const INDENT = ' '.repeat(MARKS.ok.length)

export const doctor: Command = {
  words: 'doctor',
  summary: 'Check the whole appliance, running or not; exits with 1 when a check fails.',
  options: {
    outside: {
      says: 'also connect to this machine by its names, as mail servers and mail programs do, and to a large mail service',
    },
    deep: { says: 'also read both databases from end to end: damage, missing content, wrong counts' },
  },
  async run(call) {
    const findings = await runChecks(call)
    const count = (wanted: Level) => findings.filter(({ level }) => level === wanted).length
    const failed = count('fail')
    return {
      data: { healthy: failed === 0, findings },
      lines: [...findings.flatMap(linesOf), '', `Total: ${count('ok')} ok, ${count('warn')} warn, ${failed} FAIL.`],
      ...(failed === 0 ? {} : { failure: `${failed} of ${findings.length} checks failed.` }),
    }
  },
}

async function runChecks(call: Call): Promise<Finding[]> {
  const { config } = call
  const folder = await checkFolder(config.DATA_DIR)
  const outside = [...checkSettings(config), await checkSmtp(config), ...(await checkClientPorts(config))]
  // Opening would make a folder that is missing.
  if (folder.level === 'fail') return [folder, ...outside]
  const path = resolve(config.DATA_DIR)
  const machine = [folder, await checkDisk(path), await checkClock(path, systemClock.now())]
  // Damage that keeps the appliance from being opened is what --deep is asked for.
  const deep = async () => (call.has('deep') ? await checkDatabases(path, call.progress) : [])
  try {
    const app = await call.open()
    return [
      ...machine,
      ...checkCertificate(app.folder.tls.cert, hostsOf(config), app.clock.now()),
      ...outside,
      ...(await checkHosts(app.resolver, config.MAIL_HOSTS)),
      ...(await checkFromOutside(call, app.resolver)),
      ...(await checkDomains(app)),
      ...(call.has('outside') ? await checkDocumentNames(app.resolver, documentNames(app)) : []),
      ...checkAccounts(app),
      ...(await checkBacklog(app)),
      checkClockGuard(app),
      ...(await deep()),
    ]
  } catch (error) {
    return [...machine, openFinding(error), ...outside, ...(await deep())]
  }
}

/** The names senders and mail programs connect to. */
function hostsOf(config: Config): string[] {
  return [...new Set([...config.MAIL_HOSTS, ...clientHosts(config)])]
}

function openFinding(error: unknown): Finding {
  const damage = storageError(error)
  if (damage !== undefined) return failing('open', damage.message, 'mailstead doctor --deep names what is damaged.')
  const says = `The appliance cannot be opened: ${error instanceof Error ? error.message : String(error)}`
  return failing('open', says, 'Correct this, then run mailstead doctor again.')
}

async function checkFromOutside({ config, has }: Call, resolver: Resolver): Promise<Finding[]> {
  if (!has('outside')) return notTried(config)
  return [
    ...(await checkInboundPort(resolver, config)),
    ...(await checkOutboundPort(resolver, config)),
    ...(await checkClientHost(resolver, config)),
  ]
}

function linesOf({ level, check, says, do: advice }: Finding): string[] {
  return [`${MARKS[level]}${check}: ${says}`, ...(advice === null ? [] : [`${INDENT}${advice}`])]
}
