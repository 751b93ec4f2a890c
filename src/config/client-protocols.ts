// The protocols of mail programs, and what a mail program must be set to (decisions-imap §2.2).

import { CLIENT_LISTENERS, type ClientListener } from './client-listeners.ts'
import type { Config } from './config.ts'

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

type Names = Pick<Config, 'CLIENT_HOST' | 'MAIL_HOSTS' | 'CLIENT_PUBLIC_PORTS'> & {
  CLIENT_PROTOCOLS: readonly ClientListener[]
}

/** The name mail programs connect to, which the certificate must contain. */
export function clientHost({ CLIENT_HOST, MAIL_HOSTS }: Pick<Config, 'CLIENT_HOST' | 'MAIL_HOSTS'>): string {
  return CLIENT_HOST || MAIL_HOSTS[0]!
}

/** @param email address of the mailbox */
export function clientSettings(config: Names, email: string): ClientSettings {
  // RFC 8314 §3: TLS from the first byte is preferred.
  const endpoint = (...names: ClientListener[]): ClientEndpoint | null => {
    const name = names.find((one) => config.CLIENT_PROTOCOLS.includes(one))
    if (name === undefined) return null
    const port = config.CLIENT_PUBLIC_PORTS[CLIENT_LISTENERS.indexOf(name)]!
    return { host: clientHost(config), port, security: name.endsWith('s') ? 'tls' : 'starttls' }
  }
  return {
    username: email,
    imap: endpoint('imaps', 'imap'),
    submission: endpoint('submissions', 'submission'),
    managesieve: endpoint('managesieve'),
  }
}
