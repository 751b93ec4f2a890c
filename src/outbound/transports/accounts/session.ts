// Speaks to a provider in the name of a connected account: keeps its access token, and gets a new one when it is time.

import type { Issuer } from '../../oauth/issuers.ts'
import { askToken, type TokenAnswer } from '../../oauth/token.ts'
import type { Provider } from '../../records.ts'
import { type ApiCall, ApiClient, type ApiResult } from './api-client.ts'
import type { AccountParts } from './parts.ts'

/** A token is not used in its last minute: it could end on the way. */
const MARGIN_MS = 60_000

/** No token could be had: nobody was asked for anything. */
export interface NoToken {
  kind: 'no_token'
  stage: 'dns' | 'connect' | 'tls' | 'auth'
  text: string
  retryAfterMs: number | null
}

export class AccountSession {
  readonly issuer: Issuer
  readonly #parts: AccountParts
  readonly #provider: Provider
  readonly #client: ApiClient
  #token: { value: string; until: number } | null = null
  /** The one refresh under way; whoever comes meanwhile waits for it. */
  #asking: Promise<TokenAnswer> | null = null

  constructor(parts: AccountParts, provider: Provider, issuer: Issuer) {
    this.#parts = parts
    this.#provider = provider
    this.issuer = issuer
    this.#client = new ApiClient(parts.clock)
  }

  /** Calls with the account's token; one that is refused is renewed, once. */
  async call(call: ApiCall): Promise<ApiResult | NoToken> {
    const first = await this.#tokenNow()
    if (typeof first !== 'string') return first
    const result = await this.#callWith(call, first)
    if (result.kind !== 'answered' || result.status !== 401) return result
    // Refused before anything was done (RFC 6750 3.1): asking again is safe.
    if (this.#token?.value === first) this.#token = null
    const second = await this.#tokenNow()
    return typeof second === 'string' ? this.#callWith(call, second) : second
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  #callWith(call: ApiCall, token: string): Promise<ApiResult> {
    return this.#client.call({ ...call, headers: { ...call.headers, authorization: `Bearer ${token}` } })
  }

  async #tokenNow(): Promise<string | NoToken> {
    const { clock } = this.#parts
    if (this.#token !== null && this.#token.until > clock.now()) return this.#token.value
    this.#asking ??= this.#refresh().finally(() => {
      this.#asking = null
    })
    const answer = await this.#asking
    if (answer.kind === 'given') return answer.accessToken
    const retryAfterMs = answer.kind === 'failed' ? answer.retryAfterMs : null
    return {
      kind: 'no_token',
      stage: answer.kind === 'failed' ? answer.stage : 'auth',
      text: answer.text,
      retryAfterMs,
    }
  }

  async #refresh(): Promise<TokenAnswer> {
    const { clock, db } = this.#parts
    const { connections, health } = this.#parts.providers
    // Read anew each time: another thread may have been given a newer one.
    const { refreshToken } = await connections.secretsOf(this.#provider)
    if (refreshToken === null) return { kind: 'refused', text: 'The account is not connected: connect it again.' }
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken }
    const answer = await askToken(this.#client, this.issuer, grant)
    if (answer.kind === 'refused') {
      const now = await connections.secretsOf(this.#provider)
      // The other thread was first, and what was shown had just been replaced.
      if (now.refreshToken !== refreshToken)
        return { kind: 'failed', stage: 'auth', text: answer.text, retryAfterMs: 0 }
      await health.refuse(this.#provider, answer.text)
    }
    if (answer.kind !== 'given') return answer
    this.#token = { value: answer.accessToken, until: clock.now() + answer.lifetimeMs - MARGIN_MS }
    const { refreshToken: rotated } = answer
    if (rotated !== null && rotated !== refreshToken) {
      await db.write((tx) => connections.keepRotated(tx, this.#provider.id, rotated))
    }
    return answer
  }
}
