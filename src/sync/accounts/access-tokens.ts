// Access tokens of accounts that sign in by consent: refreshed before they end, once at a time for each account.

import type { Clock } from '../../base/clock.ts'
import { MINUTE_MS } from '../../base/durations.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../db/db.ts'
import { ApiClient } from '../../outbound/model/api-client.ts'
import { serviceOfAuth } from '../../outbound/model/connected-services.ts'
import type { MailTokenAnswer } from '../../outbound/model/deps.ts'
import { issuerOf } from '../../outbound/providers/issuers.ts'
import { requestToken, type TokenAnswer } from '../../outbound/providers/token.ts'
import { ServerError } from '../model/server.ts'
import { keepRotated, openSecret, readSealed, type SealedSecret, sealSecret } from './accounts-secrets.ts'

/** A token is not used in its last minutes: a sign-in may take long. */
const MARGIN_MS = 5 * MINUTE_MS
/** Accounts whose tokens are kept in memory. */
const TOKENS_MAX = 1000

export interface AccessTokenDeps {
  db: Db
  clock: Clock
  config: Config
  vault: Vault
}

interface KnownToken {
  value: string
  until: number
  /** Of the settings that it was requested with. */
  version: number
}

const WITHDRAWN = 'The consent was withdrawn: connect the account again.'

export class AccessTokens {
  readonly #deps: AccessTokenDeps
  readonly #client: ApiClient
  /** By `racc_…`. */
  readonly #known = new Map<string, KnownToken>()
  readonly #refreshing = new Map<string, Promise<TokenAnswer>>()

  constructor(deps: AccessTokenDeps) {
    this.#deps = deps
    this.#client = new ApiClient(deps.clock)
  }

  /** A token that is valid for at least five minutes, for IMAP. @throws ServerError */
  async use(id: string): Promise<string> {
    const answer = await this.#answer(id)
    if (answer.kind === 'given') return answer.accessToken
    if (answer.kind === 'refused') throw new ServerError('failed', answer.text, { kind: 'consent' })
    throw new ServerError('delay', answer.text, { retryAfterMs: answer.retryAfterMs ?? undefined })
  }

  /** The same for SMTP. */
  async of(id: string): Promise<MailTokenAnswer> {
    const answer = await this.#answer(id)
    return answer.kind === 'given'
      ? { kind: 'given', token: answer.accessToken }
      : { kind: answer.kind, text: answer.text }
  }

  /** A server refused the token: another is requested next time. */
  drop(id: string): void {
    this.#known.delete(id)
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #answer(id: string): Promise<TokenAnswer> {
    const { clock } = this.#deps
    const row = this.#read(id)
    if (row === undefined) return { kind: 'refused', text: 'The account is not connected: connect it again.' }
    const known = this.#known.get(id)
    if (known !== undefined && known.version === row.version && known.until > clock.now()) {
      return { kind: 'given', accessToken: known.value, lifetimeMs: 0, refreshToken: null, scope: null, idToken: null }
    }
    const running = this.#refreshing.get(id)
    if (running !== undefined) return running
    const refreshing = this.#refresh(row).finally(() => this.#refreshing.delete(id))
    this.#refreshing.set(id, refreshing)
    return refreshing
  }

  async #refresh(row: SealedSecret): Promise<TokenAnswer> {
    const { clock, config, vault } = this.#deps
    const secret = openSecret(vault, row.id, row.sealed)
    if ('password' in secret || row.auth === 'password') {
      return { kind: 'refused', text: 'The account signs in with a password.' }
    }
    const issuer = issuerOf(config, serviceOfAuth(row.auth).type, 'mail')
    if (issuer === null) {
      return {
        kind: 'failed',
        stage: 'auth',
        text: 'The appliance has no OAuth client for this account.',
        retryAfterMs: null,
      }
    }
    const refreshToken = secret.refresh_token
    const answer = await requestToken(this.#client, issuer, { kind: 'refresh', refreshToken })
    if (answer.kind === 'refused') return this.#refused(row)
    if (answer.kind !== 'given') return answer
    if (this.#known.size >= TOKENS_MAX) this.#known.clear()
    const until = clock.now() + answer.lifetimeMs - MARGIN_MS
    this.#known.set(row.id, { value: answer.accessToken, until, version: row.version })
    if (answer.refreshToken !== null && answer.refreshToken !== refreshToken) await this.#keep(row, answer.refreshToken)
    return answer
  }

  /** Another thread may have stored a newer token meanwhile. */
  #refused(row: SealedSecret): TokenAnswer {
    const now = this.#read(row.id)
    const isNewer = now !== undefined && !Buffer.from(now.sealed).equals(Buffer.from(row.sealed))
    if (!isNewer) return { kind: 'refused', text: WITHDRAWN }
    return { kind: 'failed', stage: 'auth', text: 'The token was renewed meanwhile.', retryAfterMs: 0 }
  }

  #keep(row: SealedSecret, refreshToken: string): Promise<void> {
    const sealed = sealSecret(this.#deps.vault, row.id, { refresh_token: refreshToken })
    return this.#deps.db.write((tx) => keepRotated(tx, row, sealed))
  }

  #read(id: string): SealedSecret | undefined {
    const row = readSealed(this.#deps.db.read, id)
    return row?.auth === 'password' ? undefined : row
  }
}
