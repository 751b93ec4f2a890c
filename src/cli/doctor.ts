// `mailstead doctor`: looks at everything an appliance needs from outside and inside, and says what to do.

import { resolve } from 'node:path'
import { systemClock } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Call, Command } from './command.ts'
import { lookAtAccounts } from './doctor/accounts.ts'
import { lookAtBacklog } from './doctor/backlog.ts'
import { lookAtClockGuard } from './doctor/clock-guard.ts'
import { lookDeep } from './doctor/deep.ts'
import { lookAtDomains } from './doctor/domains.ts'
import { type Finding, failing, type Level } from './doctor/finding.ts'
import { lookAtCertificate, lookAtClock, lookAtDisk, lookAtFolder } from './doctor/machine.ts'
import { lookAtHosts } from './doctor/mail-host.ts'
import { lookAtWayIn, lookAtWayOut, notTried } from './doctor/outside.ts'
import { lookAtSettings } from './doctor/settings.ts'
import { lookAtSmtp } from './doctor/smtp-port.ts'

const MARKS = { ok: '  ok    ', warn: '  warn  ', fail: '  FAIL  ' }
const INDENT = ' '.repeat(MARKS.ok.length)

export const doctor: Command = {
  words: 'doctor',
  summary: 'Looks at the whole appliance, running or not, and says what to do; ends with 1 when something fails.',
  options: {
    outside: { says: 'also connects to port 25 of this machine by its name, and of a large mail service' },
    deep: { says: 'also reads both databases from end to end: damage, missing content, wrong counts' },
  },
  async run(call) {
    const findings = await look(call)
    const count = (wanted: Level) => findings.filter(({ level }) => level === wanted).length
    const failed = count('fail')
    return {
      data: { healthy: failed === 0, findings },
      lines: [...findings.flatMap(linesOf), '', `In all: ${count('ok')} ok, ${count('warn')} warn, ${failed} FAIL.`],
      ...(failed === 0 ? {} : { failure: `${failed} of ${findings.length} findings need somebody to act.` }),
    }
  },
}

async function look(call: Call): Promise<Finding[]> {
  const { config } = call
  const folder = await lookAtFolder(config.DATA_DIR)
  const outside = [...lookAtSettings(config), await lookAtSmtp(config)]
  // Opening would make a folder that is missing.
  if (folder.level === 'fail') return [folder, ...outside]
  const path = resolve(config.DATA_DIR)
  const machine = [folder, await lookAtDisk(path), await lookAtClock(path, systemClock.now())]
  try {
    const app = await call.open()
    return [
      ...machine,
      ...lookAtCertificate(app.folder.tls.cert, config.MAIL_HOSTS, app.clock.now()),
      ...outside,
      ...(await lookAtHosts(app.resolver, config.MAIL_HOSTS)),
      ...(await lookAtPort25(call, app.resolver)),
      ...(await lookAtDomains(app)),
      ...(await lookAtAccounts(app)),
      ...(await lookAtBacklog(app)),
      lookAtClockGuard(app),
      ...(call.has('deep') ? await lookDeep(path) : []),
    ]
  } catch (error) {
    const says = `The appliance cannot be opened: ${error instanceof Error ? error.message : String(error)}`
    return [...machine, failing('open', says, 'Mend what the sentence names, then look again.'), ...outside]
  }
}

async function lookAtPort25({ config, has }: Call, resolver: Resolver): Promise<Finding[]> {
  if (!has('outside')) return notTried(config)
  return [...(await lookAtWayIn(resolver, config)), ...(await lookAtWayOut(resolver, config))]
}

function linesOf({ level, check, says, do: advice }: Finding): string[] {
  return [`${MARKS[level]}${check}: ${says}`, ...(advice === null ? [] : [`${INDENT}${advice}`])]
}
