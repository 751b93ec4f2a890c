// The listeners on which a new certificate is proven, and how TLS begins on each.

import { CLIENT_LISTENERS, type ClientListener } from '../config/client-listeners.ts'
import type { Config } from '../config/config.ts'
import { WILDCARDS } from '../maintenance/doctor/smtp-port.ts'
import { isListed } from '../net/connections.ts'
import type { ProvedListener } from './prove-certificate.ts'

const SMTP_STARTTLS = ['EHLO certificate.invalid\r\n', 'STARTTLS\r\n']
const STARTTLS: Readonly<Record<ClientListener, readonly string[] | null>> = {
  imaps: null,
  imap: ['a STARTTLS\r\n'],
  submissions: null,
  submission: SMTP_STARTTLS,
  managesieve: ['STARTTLS\r\n'],
}

/** @param ports those that are open; 0 for others */
export function provedListeners(
  config: Config,
  ports: Readonly<Record<ClientListener | 'smtp' | 'https', number>>,
): ProvedListener[] {
  const at = (bind: string) => WILDCARDS.get(bind) ?? bind
  const mail: ProvedListener[] = [
    { name: 'smtp', host: at(config.SMTP_BIND), port: ports.smtp, starttls: SMTP_STARTTLS, selects: false },
    ...CLIENT_LISTENERS.map((name) => ({
      ...{ name, host: at(config.CLIENT_BIND), port: ports[name] },
      ...{ starttls: STARTTLS[name], selects: false },
    })),
  ]
  // Where this machine counts as a proxy, its connections without a PROXY header are refused.
  const reached = mail.filter(({ host }) => !isListed(host, config.PROXY_PROTOCOL_FROM))
  const https = { name: 'https', host: at(config.HTTP_BIND), port: ports.https, starttls: null, selects: true }
  return [...reached, https].filter(({ port }) => port !== 0)
}
