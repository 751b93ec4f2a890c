// Google and Microsoft as givers of tokens: where they are asked, for what, and how they name the person who said yes.

import type { Config } from '../../config/config.ts'
import { parseMailbox } from '../../mime/address.ts'
import { type ApiClient, type ApiResult, textAt } from '../transports/accounts/api-client.ts'

/** The accounts that are connected by a person's consent. */
export type ConnectedType = 'gmail_api' | 'outlook_api'

export interface Issuer {
  type: ConnectedType
  /** As people know it. */
  name: 'Google' | 'Microsoft'
  clientId: string
  clientSecret: string
  authorizeUrl: string
  tokenUrl: string
  /** What is asked for. */
  scopes: readonly string[]
  /** Those without which nothing can be sent or looked up; a person may leave some out. */
  needed: readonly string[]
  /** Further parameters of the page where a person allows it. */
  ask: Readonly<Record<string, string>>
  /** Where the account's own profile is read, and the members its address may stand in. */
  profileUrl: string
  addressMembers: readonly string[]
}

const GOOGLE_SEND = 'https://www.googleapis.com/auth/gmail.send'
// The least that reads the profile and the headers of Sent; it shows no content (decisions §3.1, pitfalls "Sending").
const GOOGLE_LOOK = 'https://www.googleapis.com/auth/gmail.metadata'
// Mail.ReadBasic shows who a mail in Sent went to, and no content.
const MICROSOFT_NEEDED = ['Mail.Send', 'Mail.ReadBasic', 'User.Read']

/** @returns null when the operator configured no client there */
export function issuerOf(config: Config, type: ConnectedType): Issuer | null {
  const issuer = type === 'gmail_api' ? google(config) : microsoft(config)
  return issuer.clientId === '' ? null : issuer
}

function google(config: Config): Issuer {
  return {
    type: 'gmail_api',
    name: 'Google',
    clientId: config.GOOGLE_CLIENT_ID,
    clientSecret: config.GOOGLE_CLIENT_SECRET,
    authorizeUrl: `${config.GOOGLE_AUTH_BASE}/o/oauth2/v2/auth`,
    tokenUrl: `${config.GOOGLE_TOKEN_BASE}/token`,
    scopes: [GOOGLE_SEND, GOOGLE_LOOK],
    needed: [GOOGLE_SEND, GOOGLE_LOOK],
    // Without both a refresh token comes only with the very first consent.
    ask: { access_type: 'offline', prompt: 'consent' },
    profileUrl: `${config.GOOGLE_API_BASE}/gmail/v1/users/me/profile`,
    addressMembers: ['emailAddress'],
  }
}

function microsoft(config: Config): Issuer {
  return {
    type: 'outlook_api',
    name: 'Microsoft',
    clientId: config.MICROSOFT_CLIENT_ID,
    clientSecret: config.MICROSOFT_CLIENT_SECRET,
    authorizeUrl: `${config.MICROSOFT_AUTH_BASE}/oauth2/v2.0/authorize`,
    tokenUrl: `${config.MICROSOFT_AUTH_BASE}/oauth2/v2.0/token`,
    scopes: ['offline_access', ...MICROSOFT_NEEDED],
    needed: MICROSOFT_NEEDED,
    ask: { response_mode: 'query', prompt: 'select_account' },
    profileUrl: `${config.MICROSOFT_API_BASE}/v1.0/me?$select=mail,userPrincipalName`,
    // Personal accounts have no `mail`.
    addressMembers: ['mail', 'userPrincipalName'],
  }
}

/** Reads whose account a token opens. */
export function readProfile(client: ApiClient, issuer: Issuer, token: string): Promise<ApiResult> {
  return client.call({ method: 'GET', url: issuer.profileUrl, headers: { authorization: `Bearer ${token}` } })
}

/** The address in a profile, lower-case; null when there is none. */
export function addressOf(issuer: Issuer, profile: unknown): string | null {
  for (const member of issuer.addressMembers) {
    const mailbox = parseMailbox(textAt(profile, member) ?? '')
    if (mailbox !== null) return mailbox.email.toLowerCase()
  }
  return null
}

/** Which of the needed scopes a person did not grant. Microsoft names its own with or without their resource. */
export function missingScopes(issuer: Issuer, granted: string): string[] {
  const names = new Set(granted.split(/\s+/).map((scope) => plain(issuer, scope)))
  return issuer.needed.filter((scope) => !names.has(plain(issuer, scope)))
}

function plain(issuer: Issuer, scope: string): string {
  const name = issuer.name === 'Microsoft' ? scope.slice(scope.lastIndexOf('/') + 1) : scope
  return name.toLowerCase()
}
