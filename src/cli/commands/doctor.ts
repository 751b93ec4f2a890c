// `mailstead doctor`: checks the settings, the machine, DNS and the databases, and advises what to do.

import { resolve } from 'node:path'
import { storageError } from '../../base/storage-error.ts'
import { applianceChecks, machineChecks, portChecks } from '../../maintenance/doctor/checks.ts'
import { checkDatabases } from '../../maintenance/doctor/deep.ts'
import { CHECKS, type Finding, failing, type Level } from '../../maintenance/doctor/finding.ts'
import { checkFolder } from '../../maintenance/doctor/machine.ts'
import type { Call, Command } from '../frame/command.ts'

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
  const ports = await portChecks(config)
  // Opening would make a folder that is missing.
  if (folder.level === 'fail') return [folder, ...ports]
  const machine = [folder, ...(await machineChecks(config))]
  // Damage that keeps the appliance from being opened is what --deep is asked for.
  const deep = async () => (call.has('deep') ? await checkDatabases(resolve(config.DATA_DIR), call.progress) : [])
  try {
    const app = await call.open()
    return [...machine, ...(await applianceChecks(app, { outside: call.has('outside'), ports })), ...(await deep())]
  } catch (error) {
    return [...machine, openFinding(error), ...ports, ...(await deep())]
  }
}

function openFinding(error: unknown): Finding {
  const damage = storageError(error)
  if (damage !== undefined) return failing('open', damage.message, 'mailstead doctor --deep names what is damaged.')
  const says = `The appliance cannot be opened: ${error instanceof Error ? error.message : String(error)}`
  return failing('open', says, 'Correct this, then run mailstead doctor again.')
}

function linesOf({ level, check, says, do: advice, command }: Finding): string[] {
  const remedy = [advice, command === null ? null : `$ ${command}`].filter((line) => line !== null)
  return [`${MARKS[level]}${CHECKS[check].title}: ${says}`, ...remedy.map((line) => `${INDENT}${line}`)]
}
