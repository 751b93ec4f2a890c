// The configuration profile that sets up a mailbox on Apple devices: a property list, without a password and not signed.

import { notFound } from '../base/errors.ts'
import { sha256 } from '../base/secrets.ts'
import { type ClientEndpoint, clientSettings } from '../config/client-protocols.ts'
import type { Config } from '../config/config.ts'
import { html, type Markup } from './markup.ts'

export const PROFILE_TYPE = 'application/x-apple-aspen-config'

type Value = string | number | boolean | readonly Record<string, unknown>[]

/**
 * The profile of one address. The device asks for the password.
 * @throws ProductError not_found when IMAP or submission is not served: Apple's format needs both
 */
export function appleProfile(config: Config, email: string): string {
  const { imap, submission } = clientSettings(config, email)
  if (imap === null || submission === null) throw notFound('profile')
  const account = {
    ...{ EmailAccountDescription: email, EmailAccountType: 'EmailTypeIMAP', EmailAddress: email },
    ...serverOf('Incoming', imap, email),
    ...serverOf('Outgoing', submission, email),
    ...{ OutgoingPasswordSameAsIncomingPassword: true },
    ...payload(config, email, 'account', 'com.apple.mail.managed'),
  }
  const profile = {
    ...{ PayloadContent: [account], PayloadOrganization: new URL(config.APP_ORIGIN).hostname },
    ...{ PayloadRemovalDisallowed: false },
    ...payload(config, email, 'profile', 'Configuration'),
  }
  return html`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${dictionary(profile)}
</plist>
`.text
}

/** With `UseSSL` devices speak TLS from the first byte on ports 993 and 465, and STARTTLS elsewhere. */
function serverOf(side: 'Incoming' | 'Outgoing', { host, port }: ClientEndpoint, email: string): Record<string, Value> {
  return {
    [`${side}MailServerHostName`]: host,
    [`${side}MailServerPortNumber`]: port,
    [`${side}MailServerUseSSL`]: true,
    [`${side}MailServerUsername`]: email,
    [`${side}MailServerAuthentication`]: 'EmailAuthPassword',
  }
}

/** The identifiers follow from the address: a second installation replaces the first. */
function payload(config: Config, email: string, part: string, type: string): Record<string, Value> {
  const hash = sha256(`${part} ${config.APP_ORIGIN} ${email.toLowerCase()}`).toString('hex')
  const reversed = new URL(config.APP_ORIGIN).hostname.split('.').toReversed().join('.')
  return {
    PayloadDisplayName: email,
    PayloadIdentifier: `${reversed}.mailstead.${hash.slice(0, 16)}`,
    PayloadType: type,
    // The form of version 8: bits of the name's own making (RFC 9562 §5.8).
    PayloadUUID: `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`,
    PayloadVersion: 1,
  }
}

function dictionary(members: Record<string, unknown>): Markup {
  return html`<dict>
${Object.entries(members).map(([key, value]) => html`<key>${key}</key>${element(value as Value)}\n`)}</dict>`
}

function element(value: Value): Markup {
  if (typeof value === 'boolean') return value ? html`<true/>` : html`<false/>`
  if (typeof value === 'number') return html`<integer>${value}</integer>`
  if (typeof value === 'string') return html`<string>${value}</string>`
  return html`<array>${value.map(dictionary)}</array>`
}
