// Google and Microsoft as OAuth issuers: their endpoints, scopes and profile members.

import type { Config } from '../../config/config.ts'
import { parseMailbox } from '../../mime/address.ts'
import { type ApiClient, type ApiResult, textAt } from '../transports/accounts/api-client.ts'

/** The account types that are connected by OAuth consent. */
export type ConnectedType = 'gmail_api' | 'outlook_api'

/** `send`: an account that sends through the provider's API. `mail`: IMAP and SMTP of an outside account (docs/design/outside-accounts.md §5). */
export type ConsentPurpose = 'send' | 'mail'

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
  /**
   * URL of the account's profile; null: the address is in the ID token, since the access token is for another service.
   * `addressMembers` names the members of either that may contain it.
   */
  profileUrl: string | null
  addressMembers: readonly string[]
}

const GOOGLE_SEND = 'https://www.googleapis.com/auth/gmail.send'
// The minimal scope to read the profile and the headers in Sent, without content (docs/design/sending.md §1, pitfalls "Sending").
const GOOGLE_READ = 'https://www.googleapis.com/auth/gmail.metadata'
// Mail.ReadBasic reads the recipients of messages in Sent, without content.
const MICROSOFT_NEEDED = ['Mail.Send', 'Mail.ReadBasic', 'User.Read']
/** IMAP and SMTP with XOAUTH2. */
const GOOGLE_MAIL = ['https://mail.google.com/']
const MICROSOFT_MAIL = ['https://outlook.office.com/IMAP.AccessAsUser.All', 'https://outlook.office.com/SMTP.Send']

/** The tenant of personal Microsoft accounts. */
const PERSONAL_TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad'

/** @returns null when the operator configured no OAuth client for this issuer */
export function issuerOf(config: Config, type: ConnectedType, purpose: ConsentPurpose = 'send'): Issuer | null {
  const issuer = type === 'gmail_api' ? google(config) : microsoft(config)
  if (issuer.clientId === '') return null
  return purpose === 'send' ? issuer : forMail(issuer)
}

/** The client is the same, with the same redirect URI: an operator registers it once. */
function forMail(issuer: Issuer): Issuer {
  if (issuer.type === 'gmail_api') return { ...issuer, scopes: GOOGLE_MAIL, needed: GOOGLE_MAIL }
  return {
    ...issuer,
    scopes: ['offline_access', 'openid', 'email', ...MICROSOFT_MAIL],
    needed: MICROSOFT_MAIL,
    profileUrl: null,
    // A work account's sign-in name is in a domain that its organisation has proved; `email` is whatever its administrator wrote there.
    addressMembers: ['preferred_username'],
  }
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

/** The address of the account that tokens belong to, lower-case; null if there is none. */
export async function readAddress(
  client: ApiClient,
  issuer: Issuer,
  tokens: { accessToken: string; idToken: string | null },
): Promise<string | null> {
  if (issuer.profileUrl === null) {
    const claims = claimsOf(tokens.idToken)
    // A personal account may sign in with a telephone number; its `email` is verified.
    return addressOf(issuer, claims) ?? (isPersonal(claims) ? addressIn(claims, 'email') : null)
  }
  const headers = { authorization: `Bearer ${tokens.accessToken}` }
  const profile: ApiResult = await client.call({ method: 'GET', url: issuer.profileUrl, headers })
  return profile.kind === 'answered' ? addressOf(issuer, profile.body) : null
}

/** It came from the issuer itself over TLS, so that its signature adds nothing (OpenID Connect Core §3.1.3.7). */
function claimsOf(idToken: string | null): unknown {
  try {
    return JSON.parse(Buffer.from(idToken?.split('.')[1] ?? '', 'base64url').toString())
  } catch {
    return null
  }
}

/** The address in a profile, lower-case; null if there is none. */
export function addressOf(issuer: Issuer, profile: unknown): string | null {
  for (const member of issuer.addressMembers) {
    const address = addressIn(profile, member)
    if (address !== null) return address
  }
  return null
}

function addressIn(profile: unknown, member: string): string | null {
  return parseMailbox(textAt(profile, member) ?? '')?.email.toLowerCase() ?? null
}

/** Whether an ID token is one of Microsoft's own tenant, of personal accounts. */
function isPersonal(claims: unknown): boolean {
  return textAt(claims, 'tid') === PERSONAL_TENANT
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
