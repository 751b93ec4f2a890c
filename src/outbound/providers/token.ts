// Requests tokens from an issuer with an authorization code or a refresh token (RFC 6749 §4.1.3, §6), through oauth4webapi.

import type { AuthorizationServer, Client, ClientAuth, TokenEndpointRequestOptions } from 'oauth4webapi'
import { type ApiClient, type ApiResult, textAt } from '../model/api-client.ts'
import type { Issuer } from './issuers.ts'

export type TokenAnswer =
  | {
      kind: 'given'
      accessToken: string
      /** Lifetime of the access token, in ms. */
      lifetimeMs: number
      /** Null when the previous one stays valid. */
      refreshToken: string | null
      /** Null when omitted, which means all requested scopes (RFC 6749 §5.1). */
      scope: string | null
      /** Null when none was requested (OpenID Connect Core §3.1.3.3). */
      idToken: string | null
    }
  /** The code or refresh token is invalid: the user must consent again. */
  | { kind: 'refused'; text: string }
  | { kind: 'failed'; stage: 'dns' | 'connect' | 'tls' | 'auth'; text: string; retryAfterMs: number | null }

/** What a token is requested for. */
export type Grant =
  | { kind: 'code'; code: string; redirectUri: string; verifier: string }
  | { kind: 'refresh'; refreshToken: string }

type Library = typeof import('oauth4webapi')

/** One token request: what the library is given, and what the issuer answered. */
interface Request {
  library: Library
  server: AuthorizationServer
  client: Client
  secret: ClientAuth
  options: TokenEndpointRequestOptions
}

const TOKEN_MAX = 16_384
const LIFETIME_MIN_S = 60
const LIFETIME_MAX_S = 86_400
const LIFETIME_UNKNOWN_S = 300
/** Errors that require a new consent (RFC 6749 §5.2, OpenID Connect Core §3.1.2.6). */
const REFUSALS = new Set(['invalid_grant', 'interaction_required', 'login_required', 'consent_required'])

/** @param client sends the request: its limits of time and size apply, and it follows no redirect */
export async function requestToken(
  client: ApiClient,
  issuer: Issuer,
  grant: Grant,
  signal?: AbortSignal,
): Promise<TokenAnswer> {
  // Loaded on the first request: threads that make none do not need it.
  const library = await import('oauth4webapi')
  let result: ApiResult | undefined
  const send = async (url: string, { body }: { body: URLSearchParams }): Promise<Response> => {
    result = await client.call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      ...(signal === undefined ? {} : { signal }),
    })
    return responseOf(result)
  }
  const request: Request = {
    library,
    server: { issuer: new URL(issuer.tokenUrl).origin, token_endpoint: issuer.tokenUrl },
    client: { client_id: issuer.clientId },
    secret: library.ClientSecretPost(issuer.clientSecret),
    // The operator chooses the address of the issuer; the default is HTTPS.
    options: { [library.customFetch]: send, [library.allowInsecureRequests]: true },
  }
  try {
    return read(issuer, await perform(request, grant), result)
  } catch (error) {
    if (result === undefined) throw error
    return failureOf(issuer, result)
  }
}

/** @throws Error when the issuer answered with anything but tokens */
async function perform({ library, server, client, secret, options }: Request, grant: Grant) {
  if (grant.kind === 'refresh') {
    const response = await library.refreshTokenGrantRequest(server, client, secret, grant.refreshToken, options)
    return library.processRefreshTokenResponse(server, client, response)
  }
  const { code, redirectUri, verifier } = grant
  // The state was checked, and taken, before the code was looked at (states.ts).
  const callback = library.validateAuthResponse(server, client, new URLSearchParams({ code }), library.skipStateCheck)
  const response = await library.authorizationCodeGrantRequest(
    server,
    client,
    secret,
    callback,
    redirectUri,
    verifier,
    options,
  )
  return library.processAuthorizationCodeResponse(server, client, response)
}

/** The answer as the library reads it. No ID token is requested, so none is looked at; an omitted `token_type` means Bearer. */
function responseOf(result: ApiResult): Response {
  if (result.kind !== 'answered') return Response.error()
  const { status, body } = result
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  const text = JSON.stringify(isObject ? { token_type: 'Bearer', ...body, id_token: undefined } : null)
  return new Response(text, { status, headers: { 'content-type': 'application/json' } })
}

interface Tokens {
  access_token: string
  expires_in?: number
  refresh_token?: string
  scope?: string
}

function read(issuer: Issuer, tokens: Tokens, result: ApiResult | undefined): TokenAnswer {
  if (!isSafe(tokens.access_token)) return noToken(issuer)
  const { expires_in: seconds = LIFETIME_UNKNOWN_S, refresh_token: refreshToken } = tokens
  return {
    kind: 'given',
    accessToken: tokens.access_token,
    lifetimeMs: Math.min(Math.max(seconds, LIFETIME_MIN_S), LIFETIME_MAX_S) * 1000,
    refreshToken: refreshToken !== undefined && isSafe(refreshToken) ? refreshToken : null,
    scope: tokens.scope ?? null,
    idToken: idTokenIn(result),
  }
}

function failureOf(issuer: Issuer, result: ApiResult): TokenAnswer {
  if (result.kind === 'unreached') return { kind: 'failed', stage: result.stage, text: result.text, retryAfterMs: null }
  // Retrying a token request is harmless.
  if (result.kind === 'broken') return { kind: 'failed', stage: 'connect', text: result.text, retryAfterMs: null }
  if (result.status === 200) return noToken(issuer)
  const error = /^[a-z_]{1,64}$/.exec(textAt(result.body, 'error') ?? '')?.[0]
  if (error !== undefined && REFUSALS.has(error)) {
    const text = `${issuer.name} no longer accepts the connection (${error}): connect the account again.`
    return { kind: 'refused', text }
  }
  const reason = error ?? `status ${result.status}`
  return failed(`${issuer.name} gave no token (${reason}).`, result.retryAfterMs)
}

/** The library is not given it: it would check the signature and the nonce. */
function idTokenIn(result: ApiResult | undefined): string | null {
  const token = result?.kind === 'answered' ? textAt(result.body, 'id_token') : null
  return token !== null && token !== undefined && isSafe(token) ? token : null
}

/** A token of printable ASCII within the length limit, safe for a header field. */
function isSafe(token: string): boolean {
  return token.length <= TOKEN_MAX && /^[\x21-\x7e]+$/.test(token)
}

function noToken(issuer: Issuer): TokenAnswer {
  return failed(`The answer of ${issuer.name} contains no token.`, null)
}

function failed(text: string, retryAfterMs: number | null): TokenAnswer {
  return { kind: 'failed', stage: 'auth', text, retryAfterMs }
}
