// Checks settings that are valid on their own but inconsistent together.

import type { Config } from '../../config/config.ts'
import { isReserved } from '../../directory/names/domain-name.ts'
import { type Finding, fine, warning } from './finding.ts'

const PUBLIC_SMTP_PORT = 25

export function checkSettings(config: Config): Finding[] {
  const findings = [...checkNames(config), ...checkLinks(config)]
  return findings.length > 0 ? findings : [fine('settings', 'The settings are consistent.')]
}

function checkLinks(config: Config): Finding[] {
  if (!config.SIGN_IN_LINKS_TO_LOCAL) return []
  const says =
    'Sign-in links are sent to mailboxes of this appliance: a key of such a mailbox is enough to sign in as its owner.'
  return [warning('settings', says, 'Set SIGN_IN_LINKS_TO_LOCAL to false, and sign in with mailstead login-link.')]
}

function checkNames(config: Config): Finding[] {
  const host = config.MAIL_HOSTS[0]!
  if (isReserved(host)) {
    const says = `The mail host is ${host}, which does not exist in public DNS.`
    const advice = 'Set MAIL_HOSTS to the public name of this machine; until then this is a trial.'
    return [
      warning(
        'settings',
        says,
        advice,
        'mailstead server name --set mail.example.com --origin https://mail.example.com',
      ),
    ]
  }
  const findings: Finding[] = []
  for (const name of ['APP_ORIGIN', 'SEND_ORIGIN'] as const) {
    const { protocol, hostname } = new URL(config[name])
    if (isReserved(hostname)) {
      const says = `${name} is ${config[name]}: links in messages and redirects do not work from other machines.`
      findings.push(warning('settings', says, `Set ${name} to its public address.`))
    } else if (protocol === 'http:') {
      const says = `${name} is ${config[name]}: keys and cookies are sent unencrypted.`
      findings.push(warning('settings', says, `Put a TLS proxy in front, and set ${name} to its https address.`))
    }
  }
  if (config.AGENT_REGISTRATION === 'on' && isReserved(config.AGENT_MAILBOX_DOMAIN)) {
    const says = `Agents may register inboxes at ${config.AGENT_MAILBOX_DOMAIN}, which no mail from outside reaches.`
    findings.push(warning('settings', says, 'Set AGENT_MAILBOX_DOMAIN, or AGENT_REGISTRATION to off.'))
  }
  if (config.DIRECT_DELIVERY && config.DIRECT_PORT !== PUBLIC_SMTP_PORT) {
    const says = `Direct delivery connects to port ${config.DIRECT_PORT}; mail servers listen on ${PUBLIC_SMTP_PORT}.`
    findings.push(warning('settings', says, `Set DIRECT_PORT to ${PUBLIC_SMTP_PORT}.`))
  }
  return findings
}
