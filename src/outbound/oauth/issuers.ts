// Google and Microsoft as OAuth issuers: their endpoints, scopes and profile members.

import type { Config } from '../../config/config.ts'
import { parseMailbox } from '../../mime/address.ts'
import { type ApiClient, type ApiResult, textAt } from '../transports/accounts/api-client.ts'

/** The account types that are connected by OAuth consent. */
export type ConnectedType = 'gmail_api' | 'outlook_api'

export interface Issuer {
  type: ConnectedType
  /** Display name. */
  name: 'Google' | 'Microsoft'
  clientId: string
  clientSecret: string
  authorizeUrl: string
  tokenUrl: string
  /** The requested scopes. */
  scopes: readonly string[]
  /** The scopes required to send and to read Sent; the user may decline some of them. */
  needed: readonly string[]
  /** Further parameters of the authorization request. */
  ask: Readonly<Record<string, string>>
  /** URL of the account's profile; `addressMembers` names the members that may contain its address. */
  profileUrl: string
  addressMembers: readonly string[]
}

const GOOGLE_SEND = 'https://www.googleapis.com/auth/gmail.send'
// The minimal scope to read the profile and the headers in Sent, without content (decisions §3.1, pitfalls "Sending").
const GOOGLE_READ = 'https://www.googleapis.com/auth/gmail.metadata'
// Mail.ReadBasic reads the recipients of messages in Sent, without content.
const MICROSOFT_NEEDED = ['Mail.Send', 'Mail.ReadBasic', 'User.Read']

/** @returns null when the operator configured no OAuth client for this issuer */
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
    scopes: [GOOGLE_SEND, GOOGLE_READ],
    needed: [GOOGLE_SEND, GOOGLE_READ],
    // Without both, Google returns a refresh token only for the first consent.
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

/** Reads the profile of the account that a token belongs to. */
export function readProfile(client: ApiClient, issuer: Issuer, token: string): Promise<ApiResult> {
  return client.call({ method: 'GET', url: issuer.profileUrl, headers: { authorization: `Bearer ${token}` } })
}

/** The address in a profile, lower-case; null if there is none. */
export function addressOf(issuer: Issuer, profile: unknown): string | null {
  for (const member of issuer.addressMembers) {
    const mailbox = parseMailbox(textAt(profile, member) ?? '')
    if (mailbox !== null) return mailbox.email.toLowerCase()
  }
  return null
}

/** The required scopes that the user did not grant. Microsoft returns scopes with or without the resource prefix. */
export function missingScopes(issuer: Issuer, granted: string): string[] {
  const names = new Set(granted.split(/\s+/).map((scope) => plain(issuer, scope)))
  return issuer.needed.filter((scope) => !names.has(plain(issuer, scope)))
}

function plain(issuer: Issuer, scope: string): string {
  const name = issuer.name === 'Microsoft' ? scope.slice(scope.lastIndexOf('/') + 1) : scope
  return name.toLowerCase()
}
