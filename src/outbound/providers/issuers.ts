// OAuth issuers of connected accounts: endpoints, scopes and the address in a profile, from the object of each service.

import type { Config } from '../../config/config.ts'
import { parseMailbox } from '../../mime/address.ts'
import { type ApiClient, type ApiResult, textAt } from '../model/api-client.ts'
import { type ConnectedService, type ConnectedType, serviceOfType } from '../model/connected-services.ts'

/** `send`: an account that sends through the provider's API. `mail`: IMAP and SMTP of an outside account (docs/design/outside-accounts.md §5). */
export type ConsentPurpose = 'send' | 'mail'

export interface Issuer {
  service: ConnectedService
  /** Display name. */
  name: string
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

/** @returns null when the operator configured no OAuth client for this service */
export function issuerOf(config: Config, type: ConnectedType, purpose: ConsentPurpose = 'send'): Issuer | null {
  const service: ConnectedService = serviceOfType(type)
  const { profileUrl, ...client } = service.client(config)
  if (client.clientId === '') return null
  const { requested, needed, addressMembers, inIdToken } = service[purpose]
  return {
    ...client,
    service,
    name: service.name,
    scopes: requested,
    needed,
    ask: service.ask,
    profileUrl: inIdToken ? null : profileUrl,
    addressMembers,
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
    return addressOf(issuer, claims) ?? (isPersonal(issuer.service, claims) ? addressIn(claims, 'email') : null)
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

/** Whether an ID token is of a personal account. */
function isPersonal({ personalTenant }: ConnectedService, claims: unknown): boolean {
  return personalTenant !== null && textAt(claims, 'tid') === personalTenant
}

/** The required scopes that the user did not grant. A service may return scopes with or without the prefix of their resource. */
export function missingScopes(issuer: Issuer, granted: string): string[] {
  const names = new Set(granted.split(/\s+/).map((scope) => plain(issuer, scope)))
  return issuer.needed.filter((scope) => !names.has(plain(issuer, scope)))
}

function plain({ service }: Issuer, scope: string): string {
  const name = service.shortensScopes ? scope.slice(scope.lastIndexOf('/') + 1) : scope
  return name.toLowerCase()
}
