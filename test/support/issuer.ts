// The OAuth part of the fake Google and Microsoft (RFC 6749, RFC 7636): single-use codes, verifiers, revoked refresh tokens.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { Answer, ApiRequest } from './api-server.ts'

/** The person at the browser, and their decision. */
export interface Person {
  email: string
  /** Scopes they grant; all requested ones by default. */
  allows?: string[]
  /** They deny the request. */
  refuses?: boolean
}

export interface IssuerRules {
  clientId: string
  clientSecret: string
  /** Rotates the refresh token at each refresh, as Microsoft does. */
  rotates: boolean
  /** Additional parameters of the authorization request required for a refresh token. */
  offline(query: URLSearchParams): boolean
  /** Format of scopes in responses. */
  grantedScopes(scopes: string[]): string
}

interface Grant {
  email: string
  scopes: string[]
  offline: boolean
}

export class Issuer {
  person: Person = { email: 'ana@shop.test' }
  /** What else, or other, the ID tokens say. */
  claims: Record<string, string | undefined> = {}
  /** Lifetime of an access token in seconds. */
  lifetime = 3600
  /** Valid refresh tokens and their owners. */
  readonly refresh = new Map<string, Grant>()
  readonly #rules: IssuerRules
  /** How often a refresh token was used. */
  refreshes = 0
  readonly #codes = new Map<string, { grant: Grant; redirectUri: string; challenge: string }>()
  readonly #access = new Map<string, Grant>()

  constructor(rules: IssuerRules) {
    this.#rules = rules
  }

  /** The authorization endpoint: a redirect back to the client. */
  authorize({ method, query }: ApiRequest): Answer {
    const { clientId, offline } = this.#rules
    assert.equal(method, 'GET')
    assert.equal(query.get('client_id'), clientId)
    assert.equal(query.get('response_type'), 'code')
    assert.equal(query.get('code_challenge_method'), 'S256')
    assert.match(query.get('code_challenge') ?? '', /^[\w-]{43}$/)
    assert.match(query.get('state') ?? '', /^.{40,}$/)
    const redirectUri = query.get('redirect_uri')!
    const back = new URL(redirectUri)
    back.searchParams.set('state', query.get('state')!)
    if (this.person.refuses === true) back.searchParams.set('error', 'access_denied')
    else {
      const code = `4/${randomBytes(24).toString('base64url')}`
      const scopes = this.person.allows ?? query.get('scope')!.split(' ')
      const grant = { email: this.person.email, scopes, offline: offline(query) }
      this.#codes.set(code, { grant, redirectUri, challenge: query.get('code_challenge')! })
      back.searchParams.set('code', code)
    }
    return { status: 302, headers: { location: back.href } }
  }

  /** The token endpoint. */
  token({ method, headers, body }: ApiRequest): Answer {
    assert.equal(method, 'POST')
    assert.equal(headers['content-type'], 'application/x-www-form-urlencoded')
    const form = new URLSearchParams(body.toString())
    const { clientId, clientSecret } = this.#rules
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret) {
      return wrong(401, 'invalid_client')
    }
    if (form.get('grant_type') === 'authorization_code') return this.#redeem(form)
    if (form.get('grant_type') === 'refresh_token') return this.#renew(form.get('refresh_token') ?? '')
    return wrong(400, 'unsupported_grant_type')
  }

  /** Whose an access token is. */
  ownerOf(token: string): string | undefined {
    return this.#access.get(token)?.email
  }

  /** The person of a request; undefined when its token is invalid. */
  whose({ headers }: ApiRequest): Grant | undefined {
    const token = /^Bearer ([\x21-\x7e]+)$/.exec(headers.authorization ?? '')?.[1]
    return token === undefined ? undefined : this.#access.get(token)
  }

  /** Invalidates all access tokens issued so far. */
  endAccess(): void {
    this.#access.clear()
  }

  #redeem(form: URLSearchParams): Answer {
    const code = form.get('code') ?? ''
    const kept = this.#codes.get(code)
    this.#codes.delete(code)
    const verifier = form.get('code_verifier') ?? ''
    assert.match(verifier, /^[\w.~-]{43,128}$/)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    if (kept === undefined || kept.redirectUri !== form.get('redirect_uri') || kept.challenge !== challenge) {
      return wrong(400, 'invalid_grant')
    }
    return this.#give(kept.grant, kept.grant.offline)
  }

  #renew(token: string): Answer {
    this.refreshes++
    const grant = this.refresh.get(token)
    if (grant === undefined) return wrong(400, 'invalid_grant')
    if (this.#rules.rotates) this.refresh.delete(token)
    return this.#give(grant, this.#rules.rotates)
  }

  #give(grant: Grant, withRefresh: boolean): Answer {
    const access = `ya29.${randomBytes(24).toString('base64url')}`
    this.#access.set(access, grant)
    const refresh = `1//${randomBytes(24).toString('base64url')}`
    if (withRefresh) this.refresh.set(refresh, grant)
    const body = {
      access_token: access,
      token_type: 'Bearer',
      expires_in: this.lifetime,
      scope: this.#rules.grantedScopes(grant.scopes),
      ...(withRefresh ? { refresh_token: refresh } : {}),
      ...(grant.scopes.includes('openid') ? { id_token: idToken(grant.email, this.claims) } : {}),
    }
    return { status: 200, body }
  }
}

/** OpenID Connect Core §2; the signature of a token that came over TLS is not checked. */
function idToken(email: string, claims: object): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256' })}.${part({ sub: 'x', preferred_username: email, ...claims })}.c2lnbmVk`
}

function wrong(status: number, error: string): Answer {
  return { status, body: { error, error_description: 'Said by the stand-in.' } }
}
