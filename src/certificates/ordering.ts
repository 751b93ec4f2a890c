// Places orders and takes them through the proof of their names to an issued certificate (RFC 8555 §7.4), a step at a time.

import type { AccountKey } from '../acme/account-key.ts'
import { type ChallengeType, dnsChallenge, type TxtPublisher } from '../acme/challenges.ts'
import type { AcmeClient } from '../acme/client.ts'
import { certificateId, checkChain } from '../acme/issued-chain.ts'
import type { Authorization, Challenge, Order } from '../acme/objects.ts'
import { AcmeError, type Problem } from '../acme/problem.ts'
import { newCertificateKey, signingRequest } from '../acme/signing-request.ts'
import { HOUR_MS } from '../base/durations.ts'
import type { Config } from '../config/config.ts'
import type { Authorities, AuthorityDeps } from './authorities.ts'
import type { Certificate, StoredOrder } from './records.ts'
import {
  chainOf,
  challengesOf,
  dropOrder,
  insertKey,
  insertOrder,
  insertVersion,
  latestKey,
  openKey,
  provenVersion,
  putChallenge,
  updateCertificate,
} from './rows.ts'

/** An order that is not decided by then has failed. */
const ORDER_MAX_MS = HOUR_MS

export interface OrderingDeps extends AuthorityDeps {
  config: AuthorityDeps['config'] & Pick<Config, 'ACME_PROFILE' | 'HTTPS_PORT'>
  authorities: Authorities
  /** Proves names by DNS; null where nothing writes records. */
  publisher: TxtPublisher | null
}

/** The outcome of a step: when the order is asked for again, or that the next step can follow at once. */
export type StepOutcome = { kind: 'next' } | { kind: 'poll'; retryAt: number | null }

/** A proof that failed; `method` is the one to try next. */
export class ProofError extends AcmeError {
  readonly method: ChallengeType | null

  constructor(message: string, type: string, method: ChallengeType | null) {
    super(message, { type })
    this.method = method
  }
}

export class Ordering {
  readonly #deps: OrderingDeps

  constructor(deps: OrderingDeps) {
    this.#deps = deps
  }

  /** Places an order. @param rehearsal at an authority for tests, where only the names are proved */
  async create(certificate: Certificate, { directory, names, rehearsal }: OrderRequest): Promise<void> {
    const { db, clock, authorities, config, vault } = this.#deps
    const { client } = await authorities.open(directory)
    const key = await this.#keyFor(certificate)
    const profile = rehearsal ? '' : await this.#profile(client, config.ACME_PROFILE)
    const replaced = rehearsal ? undefined : provenVersion(db.read, certificate.n)
    const isOfAuthority = replaced?.directory === directory && (await client.directory()).renewalInfo !== null
    const replaces = isOfAuthority ? certificateId(chainOf(db.read, replaced.n)) : null
    const { url } = await client.newOrder({ names, profile, replaces }).catch((error: unknown) => {
      // RFC 9773 §5: the authority knows a replacement already, such as one whose answer was lost.
      if (replaces === null || !(error instanceof AcmeError) || error.type !== 'alreadyReplaced') throw error
      return client.newOrder({ names, profile })
    })
    await db.write((tx) => {
      dropOrder(tx, certificate.n)
      const n = key.n ?? insertKey(tx, vault, { certificate: certificate.n, pem: key.pem!, now: clock.now() })
      const isRehearsal = rehearsal
      const now = clock.now()
      insertOrder(tx, {
        certificate: certificate.n,
        directory,
        url,
        names: [...names],
        key: n,
        isRehearsal,
        polls: 0,
        createdAt: now,
      })
      updateCertificate(tx, certificate.n, { state: 'ordered', lookAt: now, newKey: false, reason: null })
    })
  }

  /** Proves the names. @returns `next` when all are proved */
  async prove(certificate: Certificate, stored: StoredOrder): Promise<StepOutcome> {
    const { client, accountKey } = await this.#deps.authorities.open(stored.directory)
    const { value: order, retryAt } = await client.order(stored.url)
    if (order.status !== 'pending' && order.status !== 'invalid') return { kind: 'next' }
    this.#requireRecent(stored)
    let wait = retryAt
    for (const url of order.authorizations) {
      const { value: authorization, retryAt: later } = await client.authorization(url)
      if (authorization.status === 'valid') continue
      if (later !== null) wait = Math.max(wait ?? 0, later)
      await this.#proveName(certificate, authorization, { client, accountKey })
    }
    if (order.status === 'invalid') throw this.#failedOrder(order)
    return { kind: 'poll', retryAt: wait }
  }

  /** Asks for the certificate and stores it. @returns `next` when it is stored */
  async issue(certificate: Certificate, stored: StoredOrder): Promise<StepOutcome> {
    const { db, vault } = this.#deps
    const { client } = await this.#deps.authorities.open(stored.directory)
    let { value: order, retryAt } = await client.order(stored.url)
    const key = openKey(db.read, vault, stored.key)
    if (order.status === 'ready') {
      ;({ value: order, retryAt } = await client.finalize(order.finalize, signingRequest(key, stored.names)))
    }
    if (order.status === 'invalid') throw this.#failedOrder(order)
    this.#requireRecent(stored)
    if (order.status !== 'valid' || order.certificate === null) return { kind: 'poll', retryAt }
    await this.#store(certificate, stored, await client.certificate(order.certificate), key)
    return { kind: 'next' }
  }

  /** Ends the order of a certificate, and withdraws what was published for it. */
  async end(certificate: Certificate): Promise<void> {
    const { db, publisher, log } = this.#deps
    for (const { name, type, keyAuthorization } of challengesOf(db.read, certificate.n)) {
      if (type !== 'dns-01') continue
      const record = dnsChallenge(name, keyAuthorization)
      await publisher?.withdraw(record.name, record.value).catch((error: unknown) => {
        log.warn(
          { event: 'acme.record_left', err: error, name: record.name },
          'A TXT record of ACME could not be withdrawn',
        )
      })
    }
    await db.write((tx) => dropOrder(tx, certificate.n))
  }

  async #store(certificate: Certificate, stored: StoredOrder, text: string, key: string): Promise<void> {
    const { db, clock } = this.#deps
    const now = clock.now()
    const chain = checkChain(text, { key, names: stored.names, now })
    await this.end(certificate)
    await db.write((tx) => {
      const { notBefore, notAfter, keyDigest } = chain
      const { directory, names } = stored
      const origin = { certificate: certificate.n, key: stored.key, keyDigest, directory, names }
      insertVersion(tx, { ...origin, state: 'issued', notBefore, notAfter, issuedAt: now }, chain)
      updateCertificate(tx, certificate.n, { state: 'issued', lookAt: now })
    })
  }

  async #proveName(
    certificate: Certificate,
    { name, status, challenges }: Authorization,
    { client, accountKey }: { client: AcmeClient; accountKey: AccountKey },
  ): Promise<void> {
    const failed = challenges.find(({ problem }) => problem !== null)
    if (status !== 'pending') throw this.#failedProof(certificate, name, failed)
    const type = this.#methodFor(certificate, name)
    const challenge = challenges.find((one) => one.type === type)
    if (challenge === undefined) {
      const offered = challenges.map((one) => one.type).join(', ')
      throw new AcmeError(`The certificate authority does not offer ${type} for ${name}, only ${offered}.`)
    }
    if (challenge.status !== 'pending') return
    const keyAuthorization = await accountKey.authorize(challenge.token)
    const row = { token: challenge.token, certificate: certificate.n, name, type, keyAuthorization }
    await this.#deps.db.write((tx) => putChallenge(tx, row))
    if (type === 'dns-01') {
      const record = dnsChallenge(name, keyAuthorization)
      await this.#deps.publisher!.publish(record.name, record.value)
    }
    await client.answerChallenge(challenge.url)
  }

  /** DNS where records are written for the name; else HTTP, or TLS when that has failed. */
  #methodFor({ method }: Certificate, name: string): ChallengeType {
    if (this.#deps.publisher?.covers(name) === true) return 'dns-01'
    return method === 'tls-alpn-01' ? method : 'http-01'
  }

  /** A proof by HTTP that found no connection is tried by TLS next, and the other way round. */
  #failedProof({ method }: Certificate, name: string, failed: Challenge | undefined): ProofError {
    const problem = failed?.problem ?? { type: '', detail: 'it gives no reason.' }
    const isUnreachable = ['connection', 'unauthorized'].includes(problem.type) && this.#deps.config.HTTPS_PORT !== 0
    const other = method === 'tls-alpn-01' ? 'http-01' : 'tls-alpn-01'
    const next = isUnreachable && failed?.type !== 'dns-01' ? other : method
    const by = failed === undefined ? '' : ` by ${failed.type}`
    return new ProofError(
      `The certificate authority could not prove ${name}${by}: ${problem.detail}`,
      problem.type,
      next,
    )
  }

  #failedOrder({ problem }: Order): AcmeError {
    const { type, detail }: Problem = problem ?? { type: '', detail: 'it gives no reason.' }
    return new AcmeError(`The certificate authority refused the order: ${detail}`, { type })
  }

  #requireRecent({ createdAt }: StoredOrder): void {
    if (this.#deps.clock.now() - createdAt <= ORDER_MAX_MS) return
    throw new AcmeError('The certificate authority did not decide on the order within an hour.')
  }

  async #profile(client: AcmeClient, profile: string): Promise<string> {
    if (profile === '') return ''
    const { profiles } = await client.directory()
    if (profiles.includes(profile)) return profile
    const known = profiles.length === 0 ? 'it has none' : `it has ${profiles.join(', ')}`
    throw new AcmeError(`The certificate authority has no profile ${profile}: ${known}. Correct ACME_PROFILE.`)
  }

  /** The key of the version in use is kept: a TLSA record of it stays right (RFC 7671 §8.1). */
  async #keyFor({ n, newKey }: Certificate): Promise<{ n: number | null; pem: string | null }> {
    const { db, vault, log } = this.#deps
    const known = newKey ? undefined : latestKey(db.read, n)
    if (known !== undefined) {
      try {
        openKey(db.read, vault, known.n)
        return { n: known.n, pem: null }
      } catch (error) {
        log.warn({ event: 'acme.key_lost', err: error }, 'The key of a certificate cannot be opened; a new one is made')
      }
    }
    return { n: null, pem: await newCertificateKey() }
  }
}

interface OrderRequest {
  directory: string
  names: readonly string[]
  rehearsal: boolean
}
