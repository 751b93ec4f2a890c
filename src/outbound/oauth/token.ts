// Requests tokens from an issuer with an authorization code or a refresh token (RFC 6749 §4.1.3, §6).

import { type ApiClient, textAt, valueAt } from '../transports/accounts/api-client.ts'
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
    }
  /** The code or refresh token is invalid: the user must consent again. */
  | { kind: 'refused'; text: string }
  | { kind: 'failed'; stage: 'dns' | 'connect' | 'tls' | 'auth'; text: string; retryAfterMs: number | null }

const TOKEN_MAX = 16_384
const LIFETIME_MIN_S = 60
const LIFETIME_MAX_S = 86_400
const LIFETIME_UNKNOWN_S = 300
/** Errors that require a new consent (RFC 6749 §5.2, OpenID Connect Core §3.1.2.6). */
const REFUSALS = new Set(['invalid_grant', 'interaction_required', 'login_required', 'consent_required'])

/** @param grant the request parameters, except the client credentials */
export async function askToken(
  client: ApiClient,
  issuer: Issuer,
  grant: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<TokenAnswer> {
  const form = new URLSearchParams({ ...grant, client_id: issuer.clientId, client_secret: issuer.clientSecret })
  const result = await client.call({
    method: 'POST',
    url: issuer.tokenUrl,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    ...(signal === undefined ? {} : { signal }),
  })
  if (result.kind === 'unreached') return { kind: 'failed', stage: result.stage, text: result.text, retryAfterMs: null }
  // Retrying a token request is harmless.
  if (result.kind === 'broken') return { kind: 'failed', stage: 'connect', text: result.text, retryAfterMs: null }
  if (result.status === 200) return read(issuer, result.body)
  const error = /^[a-z_]{1,64}$/.exec(textAt(result.body, 'error') ?? '')?.[0]
  if (error !== undefined && REFUSALS.has(error)) {
    const text = `${issuer.name} no longer accepts the connection (${error}): connect the account again.`
    return { kind: 'refused', text }
  }
  const reason = error ?? `status ${result.status}`
  return failed(`${issuer.name} gave no token (${reason}).`, result.retryAfterMs)
}

function read(issuer: Issuer, body: unknown): TokenAnswer {
  const accessToken = tokenIn(body, 'access_token')
  if (accessToken === null) return failed(`The answer of ${issuer.name} holds no token.`, null)
  const seconds = Number(valueAt(body, 'expires_in') ?? LIFETIME_UNKNOWN_S)
  const lifetime = Number.isFinite(seconds) ? seconds : LIFETIME_UNKNOWN_S
  return {
    kind: 'given',
    accessToken,
    lifetimeMs: Math.min(Math.max(lifetime, LIFETIME_MIN_S), LIFETIME_MAX_S) * 1000,
    refreshToken: tokenIn(body, 'refresh_token'),
    scope: textAt(body, 'scope'),
  }
}

/** A token of printable ASCII within the length limit, safe for a header field. */
function tokenIn(body: unknown, name: string): string | null {
  const token = textAt(body, name)
  return token !== null && token.length <= TOKEN_MAX && /^[\x21-\x7e]+$/.test(token) ? token : null
}

function failed(text: string, retryAfterMs: number | null): TokenAnswer {
  return { kind: 'failed', stage: 'auth', text, retryAfterMs }
}
