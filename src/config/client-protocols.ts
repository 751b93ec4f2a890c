// The protocols of mail programs, and what a mail program must be set to (docs/design/mail-programs.md §1.2).

import { CLIENT_LISTENERS, type ClientListener, LISTENER_PORTS } from './client-listeners.ts'
import type { Config } from './config.ts'
import { isReserved } from './reserved-names.ts'

/** Of IMAP and submission, with TLS and with STARTTLS, and of ManageSieve (RFC 8314 §7, RFC 5804 §1.8). */
const REGISTERED_PORTS = [993, 143, 465, 587, 4190] as const

/** What an app password can be limited to; which listeners there are is chosen by `CLIENT_PROTOCOLS`. */
export const CLIENT_PROTOCOLS = ['imap', 'submission', 'managesieve'] as const
export type ClientProtocol = (typeof CLIENT_PROTOCOLS)[number]

/** Where a protocol is served: `tls` from the first byte, or after STARTTLS. */
export interface ClientEndpoint {
  host: string
  port: number
  security: 'tls' | 'starttls'
}

/** What to enter in a mail program; null for protocols that are not served. */
export interface ClientSettings extends Record<ClientProtocol, ClientEndpoint | null> {
  username: string
}

/** The settings that say which port mail programs connect to. */
export type ClientPorts = Pick<Config, 'CLIENT_HOST' | 'MAIL_HOSTS' | 'CLIENT_PUBLIC_PORTS'> &
  Partial<Pick<Config, (typeof LISTENER_PORTS)[ClientListener]>>

/** The settings that say where mail programs connect to. */
export type ClientNames = ClientPorts & {
  CLIENT_PROTOCOLS: readonly ClientListener[]
}

/** The name mail programs connect to, which the certificate must contain. */
export function clientHost({ CLIENT_HOST, MAIL_HOSTS }: Pick<Config, 'CLIENT_HOST' | 'MAIL_HOSTS'>): string {
  return CLIENT_HOST || MAIL_HOSTS[0]!
}

/** The names mail programs connect to; none when no protocol is served. */
export function clientHosts(config: Pick<Config, 'CLIENT_HOST' | 'MAIL_HOSTS' | 'CLIENT_PROTOCOLS'>): string[] {
  return config.CLIENT_PROTOCOLS.length > 0 ? [clientHost(config)] : []
}

/** The public endpoints of these listeners, in the order given; those that are not served are left out. */
function servedEndpoints(config: ClientNames, ...names: ClientListener[]): ClientEndpoint[] {
  return names
    .filter((name) => config.CLIENT_PROTOCOLS.includes(name))
    .map((name) => ({
      host: clientHost(config),
      port: publicPort(config, name),
      security: name.endsWith('s') ? 'tls' : 'starttls',
    }))
}

/** The port mail programs connect to: as it is set, that of the listener in a trial, which nothing publishes, and else the registered one. */
export function publicPort(config: ClientPorts, name: ClientListener): number {
  const index = CLIENT_LISTENERS.indexOf(name)
  const listening = config[LISTENER_PORTS[name]] ?? 0
  const registered = REGISTERED_PORTS[index]!
  // 0: any free port, which is not known here.
  return (
    config.CLIENT_PUBLIC_PORTS[index] ?? (isReserved(config.MAIL_HOSTS[0]!) && listening > 0 ? listening : registered)
  )
}

/** Every endpoint of a protocol; TLS from the first byte comes first, which RFC 8314 §3 prefers. */
export function endpointsOf(config: ClientNames, protocol: ClientProtocol): ClientEndpoint[] {
  if (protocol === 'imap') return servedEndpoints(config, 'imaps', 'imap')
  if (protocol === 'submission') return servedEndpoints(config, 'submissions', 'submission')
  return servedEndpoints(config, 'managesieve')
}

/** @param email address of the mailbox */
export function clientSettings(config: ClientNames, email: string): ClientSettings {
  const first = (protocol: ClientProtocol) => endpointsOf(config, protocol)[0] ?? null
  return {
    username: email,
    imap: first('imap'),
    submission: first('submission'),
    managesieve: first('managesieve'),
  }
}
