// Services whose accounts are connected by OAuth consent: one object each with all that differs between them.

import type { Config } from '../../config/config.ts'

/** Server of a service as mail programs reach it. */
interface ServiceServer<Protocol> {
  host: string
  port: number
  protocol: Protocol
}

/** Endpoints and registration of the operator's OAuth client. */
export interface ServiceClient {
  clientId: string
  clientSecret: string
  authorizeUrl: string
  tokenUrl: string
  /** Profile of an account, for its address. */
  profileUrl: string
}

/** Scopes of one purpose. */
interface ServiceScopes {
  requested: readonly string[]
  /** Without one of them the account cannot be used; the person may decline single scopes. */
  needed: readonly string[]
  /**
   * Members of the profile that may contain the address; of the ID token where `inIdToken` is set, because the access token is for
   * another service.
   */
  addressMembers: readonly string[]
  inIdToken: boolean
}

export interface ConnectedService {
  /** Type of its sending accounts. */
  type: string
  /** `auth` of its outside accounts. */
  auth: string
  /** As people know it. */
  name: string
  client(config: Config): ServiceClient
  /** Sending through its API, and reading what is needed to find a sent message again. */
  send: ServiceScopes
  /** IMAP and SMTP with XOAUTH2 (docs/design/outside-accounts.md §5). */
  mail: ServiceScopes
  /** Further parameters of the authorization request. */
  ask: Readonly<Record<string, string>>
  /** Whether it names granted scopes without the prefix of their resource. */
  shortensScopes: boolean
  /** Tenant (`tid`) of personal accounts, whose `email` claim is verified. */
  personalTenant: string | null
  /** Whether IMAP also takes passwords that a person made for one program. */
  takesPasswords: boolean
  /** Domains of its addresses, and ends of the names of MX hosts it receives the mail of other domains at. */
  domains: readonly string[]
  exchanges: readonly string[]
  imap: ServiceServer<'ssl' | 'starttls'>
  smtp: ServiceServer<'ssl' | 'starttls'>
}

const GOOGLE_SEND = [
  'https://www.googleapis.com/auth/gmail.send',
  // The smallest scope for the profile and the headers in Sent, without content.
  'https://www.googleapis.com/auth/gmail.metadata',
]
const GOOGLE_MAIL = ['https://mail.google.com/']
// Mail.ReadBasic reads the recipients of messages in Sent, without content.
const MICROSOFT_SEND = ['Mail.Send', 'Mail.ReadBasic', 'User.Read']
const MICROSOFT_MAIL = ['https://outlook.office.com/IMAP.AccessAsUser.All', 'https://outlook.office.com/SMTP.Send']

const google = {
  type: 'gmail_api',
  auth: 'google',
  name: 'Google',
  client: (config) => ({
    clientId: config.GOOGLE_CLIENT_ID,
    clientSecret: config.GOOGLE_CLIENT_SECRET,
    authorizeUrl: `${config.GOOGLE_AUTH_BASE}/o/oauth2/v2/auth`,
    tokenUrl: `${config.GOOGLE_TOKEN_BASE}/token`,
    profileUrl: `${config.GOOGLE_API_BASE}/gmail/v1/users/me/profile`,
  }),
  send: { requested: GOOGLE_SEND, needed: GOOGLE_SEND, addressMembers: ['emailAddress'], inIdToken: false },
  mail: { requested: GOOGLE_MAIL, needed: GOOGLE_MAIL, addressMembers: ['emailAddress'], inIdToken: false },
  // Without both, Google returns a refresh token for the first consent only.
  ask: { access_type: 'offline', prompt: 'consent' },
  shortensScopes: false,
  personalTenant: null,
  takesPasswords: true,
  domains: ['gmail.com', 'googlemail.com'],
  exchanges: ['.google.com', '.googlemail.com'],
  imap: { host: 'imap.gmail.com', port: 993, protocol: 'ssl' },
  smtp: { host: 'smtp.gmail.com', port: 465, protocol: 'ssl' },
} as const satisfies ConnectedService

const microsoft = {
  type: 'outlook_api',
  auth: 'microsoft',
  name: 'Microsoft',
  client: (config) => ({
    clientId: config.MICROSOFT_CLIENT_ID,
    clientSecret: config.MICROSOFT_CLIENT_SECRET,
    authorizeUrl: `${config.MICROSOFT_AUTH_BASE}/oauth2/v2.0/authorize`,
    tokenUrl: `${config.MICROSOFT_AUTH_BASE}/oauth2/v2.0/token`,
    profileUrl: `${config.MICROSOFT_API_BASE}/v1.0/me?$select=mail,userPrincipalName`,
  }),
  send: {
    requested: ['offline_access', ...MICROSOFT_SEND],
    needed: MICROSOFT_SEND,
    // Personal accounts have no `mail`.
    addressMembers: ['mail', 'userPrincipalName'],
    inIdToken: false,
  },
  mail: {
    requested: ['offline_access', 'openid', 'email', ...MICROSOFT_MAIL],
    needed: MICROSOFT_MAIL,
    // The sign-in name of a work account is in a domain that its organization has proved; `email` is what its administrator wrote.
    addressMembers: ['preferred_username'],
    inIdToken: true,
  },
  ask: { response_mode: 'query', prompt: 'select_account' },
  shortensScopes: true,
  personalTenant: '9188040d-6c67-4c5b-b112-36a304b66dad',
  takesPasswords: false,
  domains: [
    ...['outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'outlook.de', 'hotmail.co.uk', 'hotmail.fr', 'hotmail.de'],
    ...['live.co.uk', 'live.de'],
  ],
  exchanges: ['.mail.protection.outlook.com', '.mx.microsoft'],
  imap: { host: 'outlook.office365.com', port: 993, protocol: 'ssl' },
  smtp: { host: 'smtp.office365.com', port: 587, protocol: 'starttls' },
} as const satisfies ConnectedService

/** Every service. A new one is added here, with a transport for its sending accounts. */
export const SERVICES = [google, microsoft] as const

/** Types of sending accounts that are connected by consent. */
export type ConnectedType = (typeof SERVICES)[number]['type']
/** How the outside accounts of these services sign in. */
export type ConnectedAuth = (typeof SERVICES)[number]['auth']

export const CONNECTED_TYPES: readonly ConnectedType[] = SERVICES.map(({ type }) => type)
export const CONNECTED_AUTHS: readonly ConnectedAuth[] = SERVICES.map(({ auth }) => auth)

const BY_TYPE = new Map<string, (typeof SERVICES)[number]>(SERVICES.map((service) => [service.type, service]))
const BY_AUTH = new Map<string, (typeof SERVICES)[number]>(SERVICES.map((service) => [service.auth, service]))

export function serviceOfType(type: ConnectedType): (typeof SERVICES)[number] {
  return BY_TYPE.get(type)!
}

export function serviceOfAuth(auth: ConnectedAuth): (typeof SERVICES)[number] {
  return BY_AUTH.get(auth)!
}
