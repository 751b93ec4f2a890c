// Which certificates are wanted: one for the names of the mail listeners, and one for each other name of HTTPS.

import { isIP } from 'node:net'
import { clientHosts } from '../config/client-protocols.ts'
import type { Config } from '../config/config.ts'
import { isLoopbackName, isReserved } from '../config/reserved-names.ts'
import type { CertificateKind } from './records.ts'

/** Names of domains that are served; further ones have no certificate. */
export const WEB_NAMES_MAX = 200

export interface WantedCertificate {
  kind: CertificateKind
  /** Lower case; the first one identifies it. */
  names: string[]
}

type Settings = Pick<
  Config,
  'MAIL_HOSTS' | 'CLIENT_HOST' | 'CLIENT_PROTOCOLS' | 'APP_ORIGIN' | 'SEND_ORIGIN' | 'HTTPS_PORT'
>

/**
 * The certificates of the settings, and of names of domains.
 * @param ofDomains names below domains that HTTPS serves; without HTTPS they get none
 * @param isClosed the authority is one of a closed network, which may issue for reserved names
 */
export function wantedCertificates(
  config: Settings,
  ofDomains: readonly string[],
  isClosed: boolean,
): WantedCertificate[] {
  const isUsable = (name: string) =>
    isIP(name) === 0 && name.includes('.') && !isLoopbackName(name) && (isClosed || !isReserved(name))
  const host = unique([...config.MAIL_HOSTS, ...clientHosts(config)]).filter(isUsable)
  const wanted: WantedCertificate[] = host.length === 0 ? [] : [{ kind: 'host', names: host }]
  if (config.HTTPS_PORT === 0) return wanted
  const web = unique([...originHosts(config), ...ofDomains.slice(0, WEB_NAMES_MAX)])
  const others = web.filter((name) => isUsable(name) && !host.includes(name))
  return [...wanted, ...others.map((name): WantedCertificate => ({ kind: 'web', names: [name] }))]
}

/** The hosts of the public origins that are https. */
export function originHosts(config: Pick<Config, 'APP_ORIGIN' | 'SEND_ORIGIN'>): string[] {
  const origins = [config.APP_ORIGIN, config.SEND_ORIGIN].map((origin) => new URL(origin))
  return unique(origins.filter(({ protocol }) => protocol === 'https:').map(({ hostname }) => hostname))
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)]
}
