// The settings that put this machine on the internet under a name: those that are not set elsewhere, and what stands in the way.

import type { ChosenSettings } from '../../config/chosen-settings.ts'
import type { Config } from '../../config/config.ts'
import { sourceOf } from '../../config/load.ts'
import { isReserved } from '../../config/reserved-names.ts'
import { type Finding, fine, warning } from '../doctor/finding.ts'
import { type OwnAddress, sendsOverIpv6 } from './own-addresses.ts'

/** Ports as mail servers, mail programs and browsers know them. */
const PUBLIC_PORTS = {
  SMTP_PORT: 25,
  HTTP_PORT: 80,
  HTTPS_PORT: 443,
  IMAPS_PORT: 993,
  SUBMISSIONS_PORT: 465,
  SUBMISSION_PORT: 587,
} as const
/** Of HTTPS where the public ports are forwarded to others. */
const FORWARDED_HTTPS_PORT = 8443

export interface Plan {
  /** Settings that are stored: each differs from the one in effect. */
  settings: ChosenSettings
  /** The settings as they will be. */
  planned: Config
  /** Settings that the environment or the settings file has, with another value. */
  findings: Finding[]
}

interface PlanInput {
  host: string
  /** Of the person who runs the server. */
  email: string
  addresses: readonly OwnAddress[]
  /** The public ports are forwarded to those of the settings, as by a container. */
  keepsPorts: boolean
}

export function planSettings(config: Config, input: PlanInput): Plan {
  const targets = Object.entries(targetSettings(config, input)) as [keyof ChosenSettings, unknown][]
  const different = targets.filter(([name, value]) => JSON.stringify(config[name]) !== JSON.stringify(value))
  const isFixed = ([name]: [keyof ChosenSettings, unknown]) => ['environment', 'file'].includes(sourceOf(config, name))
  const settings = Object.fromEntries(different.filter((each) => !isFixed(each))) as ChosenSettings
  const fixed = different.filter(isFixed).map(([name, value]) => fixedFinding(config, name, value))
  const same = fine('settings', 'The settings fit the name.')
  const findings = different.length === 0 ? [same] : fixed
  return { settings, planned: { ...config, ...settings }, findings }
}

/** Whether a container publishes the ports: its image says which ones. */
export function arePortsPublished(config: Config): boolean {
  return sourceOf(config, 'CLIENT_PUBLIC_PORTS') === 'environment'
}

function targetSettings(config: Config, { host, email, addresses, keepsPorts }: PlanInput): ChosenSettings {
  const hosts = [host, ...config.MAIL_HOSTS.filter((name) => name !== host && !isReserved(name))]
  // A reserved name (RFC 2606) gets no certificate, and nothing of the internet comes to it.
  if (isReserved(host)) return { MAIL_HOSTS: [host] }
  const ports = keepsPorts ? forwardedPorts(config) : PUBLIC_PORTS
  const certificate =
    config.TLS_CERT_FILE === '' ? ({ ACME: 'on', ACME_EMAIL: config.ACME_EMAIL || email } as const) : {}
  const origin = `https://${host}`
  const names = { MAIL_HOSTS: hosts, APP_ORIGIN: origin, SEND_ORIGIN: origin }
  return { ...names, ...ports, ...certificate, DIRECT_IPV6: sendsOverIpv6(addresses) }
}

/** Behind a reverse proxy HTTPS is its business. */
function forwardedPorts({ HTTPS_PORT, TRUSTED_PROXIES }: Config): ChosenSettings {
  return TRUSTED_PROXIES.length > 0 ? {} : { HTTPS_PORT: HTTPS_PORT || FORWARDED_HTTPS_PORT }
}

function fixedFinding(config: Config, name: keyof ChosenSettings, value: unknown): Finding {
  const where = sourceOf(config, name) === 'file' ? 'settings file' : 'environment'
  const says = `${name} is ${textOf(config[name])}: the ${where} has it.`
  return warning('settings', says, `Remove it there, or set it to ${textOf(value)}.`)
}

/** A value as it is written in the environment. */
export function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}
