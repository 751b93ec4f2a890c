// Whether the ports of the planned settings can be had: free, served by this appliance, taken by another program, or not allowed.

import type { Config } from '../../config/config.ts'
import { clean } from '../../mime/one-line.ts'
import { bindError } from '../../net/bind-error.ts'
import { type Finding, failing, fine, warning } from '../doctor/finding.ts'
import { converse, WILDCARDS } from '../doctor/smtp-port.ts'

/** The listeners: purpose, and the settings of port and address. */
const LISTENERS = [
  { purpose: 'receiving mail', setting: 'SMTP_PORT', bind: 'SMTP_BIND' },
  { purpose: 'HTTP and certificates', setting: 'HTTP_PORT', bind: 'HTTP_BIND' },
  { purpose: 'HTTPS', setting: 'HTTPS_PORT', bind: 'HTTP_BIND' },
  { purpose: 'submission with TLS', setting: 'SUBMISSIONS_PORT', bind: 'CLIENT_BIND' },
  { purpose: 'submission with STARTTLS', setting: 'SUBMISSION_PORT', bind: 'CLIENT_BIND' },
  { purpose: 'IMAP with TLS', setting: 'IMAPS_PORT', bind: 'CLIENT_BIND' },
  { purpose: 'ManageSieve', setting: 'MANAGESIEVE_PORT', bind: 'CLIENT_BIND' },
] as const

const GREETING_MS = 2000
/** Of a greeting that is shown, characters. */
const GREETING_MAX = 100

/** Whether the mail server of these settings greets on this machine. */
export async function isRunning({ SMTP_BIND, SMTP_PORT, MAIL_HOSTS }: Config): Promise<boolean> {
  const { said } = await converse(WILDCARDS.get(SMTP_BIND) ?? SMTP_BIND, SMTP_PORT, GREETING_MS)
  const [, name] = /^220[ -](\S+)/.exec(said) ?? []
  return name !== undefined && MAIL_HOSTS.includes(name.toLowerCase())
}

/** @param runs whether the appliance runs, and so has the ports of its settings */
export async function checkFreePorts(planned: Config, current: Config, runs: boolean): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const listener of LISTENERS) {
    const port = planned[listener.setting]
    if (port === 0) continue
    const isOwn = runs && current[listener.setting] === port
    findings.push(
      isOwn
        ? fine('free_port', `Port ${port} (${listener.purpose}) is served by Mailstead.`)
        : await checkPort(port, planned[listener.bind], listener.purpose),
    )
  }
  return findings
}

async function checkPort(port: number, host: string, purpose: string): Promise<Finding> {
  const where = `Port ${port} (${purpose})`
  const code = await bindError(port, host)
  if (code === null) return fine('free_port', `${where} is free.`)
  if (code === 'EACCES') {
    const advice =
      'Give the program the capability CAP_NET_BIND_SERVICE, as the systemd unit of the documentation does, or keep the ports above 1024 with --keep-ports and forward the public ones.'
    return failing('free_port', `${where} may not be used by this user.`, advice)
  }
  if (code !== 'EADDRINUSE')
    return warning('free_port', `${where} cannot be used (${code}).`, `Check the address ${host}.`)
  const { said } = await converse(WILDCARDS.get(host) ?? host, port, GREETING_MS)
  const [greeting = ''] = said.split(/\r?\n/, 1)
  const program = /^\d{3}[ -]/.test(greeting) ? `: it greets with "${clean(greeting, GREETING_MAX)}"` : ''
  return failing('free_port', `${where} is taken by another program${program}.`, 'Stop that program and disable it.')
}
