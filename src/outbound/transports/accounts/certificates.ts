// The signing certificates of SNS: fetched from checked URLs and cached for a day.

import { type KeyObject, X509Certificate } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../../base/durations.ts'
import { ProductError } from '../../../base/errors.ts'

/** Fetches a URL of SNS. @returns the response text; null on failure */
export type SnsGet = (url: string) => Promise<string | null>

/** Maximum number of cached certificates; each region in use has one and changes it about once a year. */
const CACHED_MAX = 20
const CACHED_MS = DAY_MS
/** Rate limit, because unauthenticated requests can name certificate URLs that do not exist. */
export const FETCHES_PER_MINUTE = 10
/** Maximum length of a certificate, in characters. */
export const PEM_MAX = 16_384
const RETRY_SECONDS = 60

interface CachedKey {
  key: KeyObject
  until: number
}

export class Certificates {
  readonly #clock: Clock
  readonly #get: SnsGet
  readonly #cache = new Map<string, CachedKey>()
  /** Fetches in progress. */
  readonly #fetching = new Map<string, Promise<KeyObject>>()
  #minute = 0
  #fetches = 0

  constructor(clock: Clock, get: SnsGet) {
    this.#clock = clock
    this.#get = get
  }

  /**
   * The public key of a certificate.
   * @param url checked by the caller
   * @throws ProductError service_unavailable when the fetch fails, insufficient_permissions when the certificate is not valid
   */
  keyAt(url: string): Promise<KeyObject> {
    const cached = this.#cache.get(url)
    if (cached !== undefined && cached.until > this.#clock.now()) return Promise.resolve(cached.key)
    const fetching = this.#fetching.get(url) ?? this.#fetch(url).finally(() => this.#fetching.delete(url))
    this.#fetching.set(url, fetching)
    return fetching
  }

  async #fetch(url: string): Promise<KeyObject> {
    const now = this.#clock.now()
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) this.#fetches = 0
    this.#minute = minute
    if (++this.#fetches > FETCHES_PER_MINUTE) throw unavailable()
    const pem = await this.#get(url)
    if (pem === null) throw unavailable()
    const key = keyIn(pem, now)
    this.#cache.set(url, { key, until: now + CACHED_MS })
    if (this.#cache.size > CACHED_MAX) this.#cache.delete(this.#cache.keys().next().value!)
    return key
  }
}

function keyIn(pem: string, now: number): KeyObject {
  try {
    if (pem.length > PEM_MAX) throw new Error('It is too long.')
    const certificate = new X509Certificate(pem)
    const key = certificate.publicKey
    const inForce = certificate.validFromDate.getTime() <= now && now <= certificate.validToDate.getTime()
    if (!inForce || key.asymmetricKeyType !== 'rsa') throw new Error('It is not in force.')
    return key
  } catch (cause) {
    throw new ProductError('insufficient_permissions', 'The certificate of the message is not valid.', { cause })
  }
}

function unavailable(): ProductError {
  const sentence = 'The certificate of the message could not be fetched. Try again later.'
  return new ProductError('service_unavailable', sentence, { retryAfter: RETRY_SECONDS })
}
