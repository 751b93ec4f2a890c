// Calls a provider's API on behalf of a connected account: caches the access token and refreshes it before it expires.

import { MINUTE_MS } from '../../../base/durations.ts'
import { type ApiCall, ApiClient, type ApiResult } from '../../model/api-client.ts'
import type { Provider } from '../../model/records.ts'
import type { Issuer } from '../../providers/issuers.ts'
import { requestToken, type TokenAnswer } from '../../providers/token.ts'
import type { AccountDeps } from './deps.ts'

/** A token is not used in its last minute, because it could expire in transit. */
const MARGIN_MS = MINUTE_MS

/** No access token is available; the API was not called. */
export interface NoToken {
  kind: 'no_token'
  stage: 'dns' | 'connect' | 'tls' | 'auth'
  text: string
  retryAfterMs: number | null
}

export class AccountSession {
  readonly issuer: Issuer
  readonly #deps: AccountDeps
  readonly #provider: Provider
  readonly #client: ApiClient
  #token: { value: string; until: number } | null = null
  /** The refresh in progress; concurrent calls wait for it. */
  #refreshing: Promise<TokenAnswer> | null = null

  constructor(deps: AccountDeps, provider: Provider, issuer: Issuer) {
    this.#deps = deps
    this.#provider = provider
    this.issuer = issuer
    this.#client = new ApiClient(deps.clock)
  }

  /** Calls with the account's access token; refreshes it once after a 401. */
  async call(call: ApiCall): Promise<ApiResult | NoToken> {
    const first = await this.#tokenNow()
    if (typeof first !== 'string') return first
    const result = await this.#callWith(call, first)
    if (result.kind !== 'answered' || result.status !== 401) return result
    // A 401 means that the request was not executed (RFC 6750 §3.1), so a retry is safe.
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
    const { clock } = this.#deps
    if (this.#token !== null && this.#token.until > clock.now()) return this.#token.value
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null
    })
    const answer = await this.#refreshing
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
    const { clock, db } = this.#deps
    const { connections, health } = this.#deps.providers
    // Read on every refresh: another thread may have stored a newer token.
    const { refreshToken } = connections.secretsOf(this.#provider)
    if (refreshToken === null) return { kind: 'refused', text: 'The account is not connected: connect it again.' }
    const answer = await requestToken(this.#client, this.issuer, { kind: 'refresh', refreshToken })
    if (answer.kind === 'refused') {
      const now = connections.secretsOf(this.#provider)
      // Another thread rotated the token first.
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
