// Autoconfiguration as Thunderbird and others ask for it: https://wiki.mozilla.org/Thunderbird:Autoconfiguration:ConfigFileFormat.

import { Type } from 'typebox'
import { notFound } from '../base/errors.ts'
import { type ClientEndpoint, endpointsOf } from '../config/client-protocols.ts'
import type { Config } from '../config/config.ts'
import { type Route, route } from '../http/route.ts'
import { html, type Markup } from './markup.ts'
import { SETUP_ADDRESS_MAX, SETUP_THROTTLE, setupDomain, textDocument } from './setup-domain.ts'
import { PAGE_ROUTE } from './site.ts'

/** The programs replace it by the address, so that the document is the same for every address of a domain. */
const USER_NAME = '%EMAILADDRESS%'

function configRoute(path: string, operation: string): Route {
  return route({
    ...PAGE_ROUTE,
    method: 'GET',
    path,
    names: ['autoconfig'],
    docs: { ...PAGE_ROUTE.docs, operation, summary: 'The settings of mail programs of a domain, for Thunderbird.' },
    reply: { ...PAGE_ROUTE.reply, types: ['*/*'] },
    limits: { throttle: SETUP_THROTTLE },
    query: Type.Object({ emailaddress: Type.Optional(Type.String({ maxLength: SETUP_ADDRESS_MAX })) }),
    handle({ query, app, request }) {
      const domain = setupDomain(app, query.emailaddress ?? '', request.host)
      return textDocument('text/xml', clientConfig(app.config, domain))
    },
  })
}

/** @throws ProductError not_found when IMAP is not served */
export function clientConfig(config: Config, domain: string): string {
  const incoming = endpointsOf(config, 'imap').map((one) => server('incomingServer', 'imap', one))
  const outgoing = endpointsOf(config, 'submission').map((one) => server('outgoingServer', 'smtp', one))
  if (incoming.length === 0) throw notFound('configuration')
  return html`<?xml version="1.0" encoding="UTF-8"?>
<clientConfig version="1.1">
  <emailProvider id="${domain}">
    <domain>${domain}</domain>
    <displayName>${domain}</displayName>
    <displayShortName>${domain}</displayShortName>
${incoming}${outgoing}    <documentation url="${config.APP_ORIGIN}/mail-setup">
      <descr lang="en">Mail programs, and where to get an app password</descr>
    </documentation>
  </emailProvider>
</clientConfig>
`.text
}

// Programs know no SCRAM in this format; `password-cleartext` is a password inside TLS.
function server(element: string, type: string, { host, port, security }: ClientEndpoint): Markup {
  return html`    <${element} type="${type}">
      <hostname>${host}</hostname>
      <port>${port}</port>
      <socketType>${security === 'tls' ? 'SSL' : 'STARTTLS'}</socketType>
      <authentication>password-cleartext</authentication>
      <username>${USER_NAME}</username>
    </${element}>
`
}

export const autoconfigRoutes: readonly Route[] = [
  configRoute('/mail/config-v1.1.xml', 'getClientConfig'),
  configRoute('/.well-known/autoconfig/mail/config-v1.1.xml', 'getWellKnownClientConfig'),
]
