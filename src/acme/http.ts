// Requests to a certificate authority: HTTPS only, addresses checked, bounded in time and size, no redirects.

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { isPublicAddress } from '../base/public-address.ts'
import type { Resolver } from '../base/resolver.ts'
import { type FetchResult, SafeFetch } from '../base/safe-fetch.ts'
import { isReserved } from '../config/reserved-names.ts'
import { PROGRAM_VERSION } from '../config/version.ts'
import { AcmeError, problemError, problemOf } from './problem.ts'

/** Longest answer of the authority, bytes: an order of 100 names has some 20 KiB, a chain of certificates some 10. */
export const ACME_ANSWER_MAX = 256 * 1024
/** Longest time of one request, ms. */
export const ACME_REQUEST_MS = 30_000
const URL_MAX = 2048
/** What a Retry-After may ask for at most, ms. */
const RETRY_MAX_MS = 24 * 3600 * 1000
const USER_AGENT = `Mailstead/${PROGRAM_VERSION} (ACME)`

export interface AcmeHttpDeps {
  resolver: Resolver
  log: Pick<Log, 'error'>
  clock: Clock
  /** Of the directory: an authority with a private address is one the operator has chosen, and may name that host. */
  directory: string
  /** ms; {@link ACME_REQUEST_MS} unless given. */
  totalMs?: number
}

/** A whole answer with a status of success, or one the caller has asked for. */
export interface AcmeAnswer {
  status: number
  body: string
  headers: FetchResult['headers']
  /** When to ask again at the earliest, ms; null when the authority did not say. */
  retryAt: number | null
}

export class AcmeHttp {
  readonly #fetch: SafeFetch
  readonly #clock: Clock

  constructor({ resolver, log, clock, directory, totalMs = ACME_REQUEST_MS }: AcmeHttpDeps) {
    const { hostname } = new URL(directory)
    this.#clock = clock
    this.#fetch = new SafeFetch({
      resolver,
      log,
      // The authority names further URLs: only the host that the operator has named may lead into this network.
      allowPrivate: (host) => host === hostname && isPrivateHost(hostname),
      allowLoopback: ['localhost', '127.0.0.1', '[::1]'].includes(hostname),
      totalMs,
    })
  }

  /**
   * Sends a request and reads the whole answer.
   * @param body of a POST; without one it is a GET, or a HEAD when `head` says so
   * @throws AcmeError for a status of failure, and for an answer that is none
   */
  async send(url: string, { body, accept, head = false }: RequestForm = {}): Promise<AcmeAnswer> {
    const host = hostOf(url)
    const headers = {
      'user-agent': USER_AGENT,
      'accept-language': 'en',
      accept: accept ?? 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/jose+json' }),
    }
    const method = body === undefined ? (head ? 'HEAD' : 'GET') : 'POST'
    const result = await this.#fetch.request(url, { method, headers, ...(body && { body }) }, ACME_ANSWER_MAX)
    const retryAt = this.#retryAt(result.headers['retry-after'])
    if (result.body === null) {
      throw new AcmeError(`The certificate authority at ${host} did not answer: ${result.text}`, { isTransient: true })
    }
    if (result.body.length >= ACME_ANSWER_MAX) throw new AcmeError(`The answer of ${host} is too large.`)
    const { status } = result
    if (status >= 200 && status < 300) return { status, body: result.body, headers: result.headers, retryAt }
    throw this.#failure(result, host, retryAt)
  }

  close(): Promise<void> {
    return this.#fetch.close()
  }

  #failure({ status, body, headers }: FetchResult, host: string, retryAt: number | null): AcmeError {
    const problem = /^application\/problem\+json\b/i.test(String(headers['content-type'])) ? parsed(body ?? '') : null
    const document = problemOf(problem)
    if (document === null)
      return new AcmeError(`The certificate authority at ${host} answered with status ${status}.`, {
        ...{ retryAt, headers },
        isTransient: status >= 500 || status === 429,
      })
    return problemError(document, { retryAt, headers })
  }

  /** Seconds or a date (RFC 9110 §10.2.3). */
  #retryAt(value: string | string[] | undefined): number | null {
    if (typeof value !== 'string') return null
    const now = this.#clock.now()
    const at = /^\d{1,9}$/.test(value) ? now + Number(value) * 1000 : Date.parse(value)
    return Number.isNaN(at) ? null : Math.min(Math.max(at, now), now + RETRY_MAX_MS)
  }
}

interface RequestForm {
  body?: string
  accept?: string
  head?: boolean
}

/** Whether a host is one of a closed network: such an authority may issue for names that public DNS does not have. */
export function isPrivateHost(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '')
  const isAddress = /^[\d.]+$|:/.test(literal)
  return isAddress ? !isPublicAddress(literal) : isReserved(literal)
}

function hostOf(url: string): string {
  const parts = url.length > URL_MAX ? null : URL.parse(url)
  if (parts?.protocol !== 'https:' || parts.username !== '' || parts.password !== '') {
    throw new AcmeError('The certificate authority names a URL that is not https.')
  }
  return parts.host
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
