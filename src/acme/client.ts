// A client of RFC 8555: one account at one authority. It keeps no state but nonces; who uses it keeps the URLs.

import type { Clock } from '../base/clock.ts'
import type { AccountKey, ExternalAccount } from './account-key.ts'
import { type AcmeAnswer, AcmeHttp, type AcmeHttpDeps } from './http.ts'
import {
  type AuthorityDirectory,
  type Authorization,
  authorizationOf,
  directoryOf,
  type Order,
  orderOf,
  parseObject,
  type RenewalInfo,
  renewalInfoOf,
} from './objects.ts'
import { AcmeError } from './problem.ts'

/** Requests repeated with a fresh nonce before the failure is passed on. */
export const NONCE_TRIES = 10
const NONCES_MAX = 10
/** The status of an account that was there before (RFC 8555 §7.3). */
const FOUND = 200
const NONCE = /^[A-Za-z0-9_-]{1,512}$/

/** An object, and when the authority wants it to be asked for again, ms. */
export interface Polled<T> {
  value: T
  retryAt: number | null
}

export interface NewOrder {
  /** Host names, lower case. */
  names: readonly string[]
  /** A profile of the authority; '' for its usual one. */
  profile?: string
  /** The ARI id of the certificate that it replaces (RFC 9773 §5). */
  replaces?: string | null
}

export class AcmeClient {
  readonly #http: AcmeHttp
  readonly #clock: Clock
  readonly #url: string
  readonly #key: AccountKey
  /** URL of the account; null until it was opened. */
  #kid: string | null
  readonly #nonces: string[] = []
  #directory: AuthorityDirectory | undefined
  #aheadMs = 0

  constructor(deps: AcmeHttpDeps & { key: AccountKey; kid: string | null }) {
    this.#http = new AcmeHttp(deps)
    this.#clock = deps.clock
    this.#url = deps.directory
    this.#key = deps.key
    this.#kid = deps.kid
  }

  /** How far this clock was ahead of that of the authority with its directory, ms; 0 when it did not say. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  /** @throws AcmeError, as all of them */
  async directory(): Promise<AuthorityDirectory> {
    if (this.#directory !== undefined) return this.#directory
    const { body, headers } = await this.#http.send(this.#url)
    const date = Date.parse(String(headers.date))
    this.#aheadMs = Number.isNaN(date) ? 0 : this.#clock.now() - date
    this.#directory = directoryOf(parseObject(body, 'directory'))
    return this.#directory
  }

  /** Opens the account, or finds the one the key has and gives it this contact (§7.3). @returns its URL */
  async openAccount(email: string, external: ExternalAccount | null): Promise<string> {
    const { newAccount } = await this.directory()
    const contact = email === '' ? [] : [`mailto:${email}`]
    const payload = {
      termsOfServiceAgreed: true,
      ...(email === '' ? {} : { contact }),
      ...(external === null ? {} : { externalAccountBinding: await this.#key.bind(external, newAccount) }),
    }
    this.#kid = null
    const { headers, status } = await this.#post(newAccount, payload)
    this.#kid = locationOf(headers, 'account')
    if (status === FOUND) await this.#post(this.#kid, { contact })
    return this.#kid
  }

  /** @returns the URL of the order as well */
  async newOrder({ names, profile = '', replaces = null }: NewOrder): Promise<{ url: string; order: Order }> {
    const { newOrder } = await this.directory()
    const payload = {
      identifiers: names.map((value) => ({ type: 'dns', value })),
      ...(profile === '' ? {} : { profile }),
      ...(replaces === null ? {} : { replaces }),
    }
    const { body, headers } = await this.#post(newOrder, payload)
    return { url: locationOf(headers, 'order'), order: orderOf(parseObject(body, 'order')) }
  }

  async order(url: string): Promise<Polled<Order>> {
    const { body, retryAt } = await this.#post(url, null)
    return { value: orderOf(parseObject(body, 'order')), retryAt }
  }

  async authorization(url: string): Promise<Polled<Authorization>> {
    const { body, retryAt } = await this.#post(url, null)
    return { value: authorizationOf(parseObject(body, 'authorization')), retryAt }
  }

  /** Says that the challenge is prepared (RFC 8555 §7.5.1). @param url of the challenge */
  async answerChallenge(url: string): Promise<void> {
    await this.#post(url, {})
  }

  /** @param csr DER */
  async finalize(url: string, csr: Buffer): Promise<Polled<Order>> {
    const { body, retryAt } = await this.#post(url, { csr: csr.toString('base64url') })
    return { value: orderOf(parseObject(body, 'order')), retryAt }
  }

  /** The chain, PEM, as it came: not checked. */
  async certificate(url: string): Promise<string> {
    const { body, headers } = await this.#post(url, null, 'application/pem-certificate-chain')
    if (/^application\/pem-certificate-chain\b/i.test(String(headers['content-type']))) return body
    throw new AcmeError('The certificate authority sent a certificate of another type than PEM.')
  }

  /** @param certificate DER @param reason of RFC 5280 §5.3.1 */
  async revoke(certificate: Buffer, reason: number): Promise<void> {
    const { revokeCert } = await this.directory()
    if (revokeCert === null) throw new AcmeError('The certificate authority does not revoke certificates by ACME.')
    await this.#post(revokeCert, { certificate: certificate.toString('base64url'), reason })
  }

  /** When the authority wants the certificate renewed (RFC 9773 §4.1); null where it does not say. @param id see `certificateId` */
  async renewalInfo(id: string): Promise<Polled<RenewalInfo> | null> {
    const { renewalInfo } = await this.directory()
    if (renewalInfo === null) return null
    const { body, retryAt } = await this.#http.send(`${renewalInfo.replace(/\/$/, '')}/${id}`)
    return { value: renewalInfoOf(parseObject(body, 'renewal information')), retryAt }
  }

  close(): Promise<void> {
    return this.#http.close()
  }

  async #post(url: string, payload: object | null, accept?: string): Promise<AcmeAnswer> {
    for (let tries = 1; ; tries++) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce())
      const body = await this.#key.sign(payload, { url, nonce, kid: this.#kid })
      try {
        const answer = await this.#http.send(url, { body, ...(accept && { accept }) })
        this.#keepNonce(answer.headers)
        return answer
      } catch (error) {
        if (!(error instanceof AcmeError)) throw error
        this.#keepNonce(error.headers)
        // RFC 8555 §6.5: repeated with a fresh nonce, which the refusal carries.
        if (error.type !== 'badNonce' || tries >= NONCE_TRIES) throw error
      }
    }
  }

  async #newNonce(): Promise<string> {
    const { newNonce } = await this.directory()
    const { headers } = await this.#http.send(newNonce, { head: true })
    this.#keepNonce(headers)
    const nonce = this.#nonces.pop()
    if (nonce === undefined) throw new AcmeError('The certificate authority gives no nonce.')
    return nonce
  }

  #keepNonce(headers: AcmeAnswer['headers']): void {
    const nonce = headers['replay-nonce']
    if (typeof nonce !== 'string' || !NONCE.test(nonce)) return
    this.#nonces.push(nonce)
    if (this.#nonces.length > NONCES_MAX) this.#nonces.shift()
  }
}

function locationOf(headers: AcmeAnswer['headers'], what: string): string {
  const { location } = headers
  if (typeof location === 'string' && URL.parse(location)?.protocol === 'https:') return location
  throw new AcmeError(`The certificate authority does not name the URL of the ${what}.`)
}
