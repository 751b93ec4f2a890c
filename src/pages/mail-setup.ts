// The page that shows people what to enter in a mail program, and the profile for Apple devices.

import { Type } from 'typebox'
import { invalid } from '../base/errors.ts'
import { type ClientEndpoint, endpointsOf } from '../config/client-protocols.ts'
import type { Config } from '../config/config.ts'
import { type Route, route } from '../http/route.ts'
import { parseMailbox } from '../mime/address.ts'
import { appleProfile, PROFILE_TYPE } from './apple-profile.ts'
import { html, type Markup } from './markup.ts'
import { SETUP_ADDRESS_MAX, SETUP_THROTTLE, setupDomain, textDocument } from './setup-domain.ts'
import { PAGE_ROUTE, sitePage } from './site.ts'

const PROFILE_PATH = '/mail-setup/profile.mobileconfig'

const showSetup = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: '/mail-setup',
  docs: { ...PAGE_ROUTE.docs, operation: 'showMailSetup', summary: 'Shows what to enter in a mail program.' },
  limits: { throttle: SETUP_THROTTLE },
  handle({ app }) {
    const body =
      app.config.CLIENT_PROTOCOLS.length === 0 ? html`<p>Mail programs are not served here.</p>` : setup(app.config)
    return sitePage({ title: 'Set up a mail program', body, session: null })
  },
})

const getProfile = route({
  ...PAGE_ROUTE,
  method: 'GET',
  path: PROFILE_PATH,
  docs: {
    ...PAGE_ROUTE.docs,
    operation: 'getAppleProfile',
    summary: 'The profile that sets up a mailbox on Apple devices.',
  },
  reply: { ...PAGE_ROUTE.reply, types: ['*/*'] },
  limits: { throttle: SETUP_THROTTLE },
  query: Type.Object({ address: Type.String({ maxLength: SETUP_ADDRESS_MAX }) }),
  handle({ query, app, request }) {
    const address = parseMailbox(query.address.trim())
    if (address === null)
      throw invalid('address', 'invalid_format', 'The address is not valid. Enter one such as ana@shop.example.')
    setupDomain(app, address.email, request.host)
    return textDocument(PROFILE_TYPE, appleProfile(app.config, address.email), {
      'Content-Disposition': 'attachment; filename="mail.mobileconfig"',
    })
  },
})

function setup(config: Config): Markup {
  const rows = [
    ...endpointsOf(config, 'imap').map((one) => rowOf('Incoming (IMAP)', one)),
    ...endpointsOf(config, 'submission').map((one) => rowOf('Outgoing (SMTP)', one)),
    ...endpointsOf(config, 'managesieve').map((one) => rowOf('Filters (ManageSieve)', one)),
  ]
  return html`<p>Many programs, such as Thunderbird and Outlook, find these settings by your address. Enter them if yours does not.</p>
<table><thead><tr><th>For</th><th>Server</th><th>Port</th><th>Security</th></tr></thead><tbody>${rows}</tbody></table>
<dl><dt>User name</dt><dd>your whole address</dd>
<dt>Password</dt><dd>an app password, one for each program: the manager of your mailbox creates it</dd></dl>
${appleForm(config)}<p><a href="/docs/mail-programs">More about mail programs</a></p>`
}

function appleForm(config: Config): Markup | null {
  if (endpointsOf(config, 'imap').length === 0 || endpointsOf(config, 'submission').length === 0) return null
  return html`<h2>iPhone, iPad and Mac</h2>
<p>A profile sets up Mail, which then asks for the password.</p>
<form method="get" action="${PROFILE_PATH}"><label>Your address <input type="email" name="address" required maxlength="${SETUP_ADDRESS_MAX}" autocomplete="email"></label>
<div class="actions"><button>Download the profile</button></div></form>`
}

function rowOf(use: string, { host, port, security }: ClientEndpoint): Markup {
  return html`<tr><td>${use}</td><td><code>${host}</code></td><td>${port}</td><td>${security === 'tls' ? 'TLS (SSL)' : 'STARTTLS'}</td></tr>`
}

/** The path of the profile of an address. */
export function profilePath(email: string): string {
  return `${PROFILE_PATH}?address=${encodeURIComponent(email)}`
}

export const mailSetupRoutes: readonly Route[] = [showSetup, getProfile]
