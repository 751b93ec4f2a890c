// The certificates of this appliance: which are wanted, in which state each is, and the step that is due next.

import type { ChallengeType, TxtPublisher } from '../acme/challenges.ts'
import { isPrivateHost } from '../acme/http.ts'
import type { ClockDoubt } from '../base/clock-guard.ts'
import { conflict, notFound } from '../base/errors.ts'
import type { CertificatePair } from '../config/certificate.ts'
import type { Config } from '../config/config.ts'
import { Authorities } from './authorities.ts'
import { complaintOf } from './eligibility.ts'
import { WEB_NAMES_MAX, wantedCertificates } from './names.ts'
import type { Certificate, Version } from './records.ts'
import {
  allCertificates,
  certificateNamed,
  challengeByName,
  challengeByToken,
  follow,
  pairOf,
  provenVersion,
  servedVersion,
  updateCertificate,
  versionsOf,
} from './rows.ts'
import { CertificateSteps, NAMES_EVERY_MS, type Prove, type StepDeps } from './steps.ts'

/** Failures in a row from which they are reported to the operator: the first pauses are a matter of minutes. */
export const FAILURES_REPORTED = 3
/** Steps of one certificate in a row. */
const STEPS_MAX = 10

export interface CertificatesDeps extends Omit<StepDeps, 'authorities' | 'publisher' | 'random'> {
  config: StepDeps['config'] & Pick<Config, 'ACME' | 'CLIENT_HOST' | 'CLIENT_PROTOCOLS' | 'APP_ORIGIN' | 'SEND_ORIGIN'>
  guard: ClockDoubt
  /** Names below domains of teams that HTTPS can serve. */
  domainNames(): string[]
  /** Proves names by DNS; null where nothing writes records. */
  publisher?: TxtPublisher | null
  /** 0 to 1; the usual random numbers unless given. */
  random?: () => number
}

/** A certificate as it is shown. */
export interface CertificateStatus extends Certificate {
  /** The one in use; null without. */
  served: Version | null
}

/** The pairs that listeners serve. */
export interface ServedPairs {
  /** Of the mail listeners, and the default of HTTPS; null before one was issued. */
  host: CertificatePair | null
  /** Of HTTPS, by name. */
  byName: ReadonlyMap<string, CertificatePair>
}

export class AcmeCertificates {
  readonly #deps: CertificatesDeps
  readonly #authorities: Authorities
  readonly #steps: CertificateSteps
  /** When the wanted names are looked at again, monotonic ms. */
  #followAt = Number.NEGATIVE_INFINITY

  constructor(deps: CertificatesDeps) {
    this.#deps = deps
    this.#authorities = new Authorities(deps)
    const { publisher = null, random = Math.random } = deps
    this.#steps = new CertificateSteps({ ...deps, authorities: this.#authorities, publisher, random })
  }

  get isOn(): boolean {
    return this.#deps.config.ACME === 'on'
  }

  /** All of them, that of the mail listeners first. */
  list(): CertificateStatus[] {
    const { db } = this.#deps
    return allCertificates(db.read).map((one) => ({ ...one, served: servedVersion(db.read, one.n) ?? null }))
  }

  /** @throws ProductError not_found */
  get(name: string): CertificateStatus {
    const { db } = this.#deps
    const row = certificateNamed(db.read, name)
    if (row === undefined) throw notFound('certificate')
    return { ...row, served: servedVersion(db.read, row.n) ?? null }
  }

  /** What listeners serve; none while ACME is off. A key that cannot be opened is left out. */
  pairs(): ServedPairs {
    const byName = new Map<string, CertificatePair>()
    let host: CertificatePair | null = null
    for (const { kind, name, served } of this.isOn ? this.list() : []) {
      const pair = served === null ? null : this.#pair(served)
      if (pair === null) continue
      if (kind === 'host') host = pair
      for (const each of served!.names) byName.set(each, pair)
      byName.set(name, pair)
    }
    return { host, byName }
  }

  /** Whether a connection has proved the certificate of this name. */
  isProven(name: string): boolean {
    const { db } = this.#deps
    if (!this.isOn) return false
    return allCertificates(db.read).some(({ n }) => provenVersion(db.read, n)?.names.includes(name) === true)
  }

  /** Whether a certificate of this name was renewed once. */
  hasRenewed(name: string): boolean {
    const { db } = this.#deps
    const row = allCertificates(db.read).find(({ names }) => names.includes(name))
    return row !== undefined && versionsOf(db.read, row.n).filter(({ provenAt }) => provenAt !== null).length > 1
  }

  /** The answer of HTTP-01; undefined for a token that is not open. */
  httpAnswer(token: string): string | undefined {
    return challengeByToken(this.#deps.db.read, token)?.keyAuthorization
  }

  /** The key authorization of an open challenge of a name. */
  challengeOf(name: string, type: ChallengeType): string | undefined {
    return challengeByName(this.#deps.db.read, name, type)?.keyAuthorization
  }

  /**
   * Orders a new version now, whatever pause is under way.
   * @param newKey with another key @param revoke the version in use is revoked when the new one is proven: its key is known to others
   * @throws ProductError not_found, conflict
   */
  async renew(name: string, { newKey = false, revoke = false } = {}): Promise<CertificateStatus> {
    const { db, clock } = this.#deps
    const { n, state } = this.get(name)
    if (!this.isOn) throw conflict('Certificates are not obtained: the setting ACME is off.')
    const changes = {
      lookAt: clock.now(),
      ...(newKey || revoke ? { newKey: true } : {}),
      ...(revoke ? { revoke } : {}),
    }
    await db.write((tx) => updateCertificate(tx, n, { ...changes, ...(state === 'proven' ? { state: 'due' } : {}) }))
    return this.get(name)
  }

  /** Takes the steps that are due. @returns how many certificates had one */
  async step(prove: Prove): Promise<number> {
    const { guard, clock, db } = this.#deps
    // An order placed at a wrong time would waste the limits of the authority.
    if (!this.isOn || guard.isHeld()) return 0
    await this.#follow()
    const due = allCertificates(db.read).filter(({ lookAt }) => lookAt <= clock.now())
    for (const { name } of due) await this.#stepsOf(name, prove)
    const isOrdering = allCertificates(db.read).some(({ state }) => state === 'ordered' || state === 'validated')
    if (due.length > 0 && !isOrdering) await this.#authorities.close()
    return due.length
  }

  /** When the next step is due, ms; null without one. */
  nextAt(): number | null {
    if (!this.isOn) return null
    const times = allCertificates(this.#deps.db.read).map(({ lookAt }) => lookAt)
    return times.length === 0 ? null : Math.min(...times)
  }

  close(): Promise<void> {
    return this.#authorities.close()
  }

  /** Names below domains enter when they lead to this server; they stay until their domain goes. */
  async #follow(): Promise<void> {
    const { config, db, clock, domainNames, resolver } = this.#deps
    const now = clock.monotonic()
    if (now < this.#followAt) return
    this.#followAt = now + NAMES_EVERY_MS
    const known = new Set(allCertificates(db.read).map(({ name }) => name))
    const ofDomains: string[] = []
    const eligibility = { resolver, mailHost: config.MAIL_HOSTS[0]! }
    for (const name of config.HTTPS_PORT === 0 ? [] : domainNames().slice(0, WEB_NAMES_MAX)) {
      const complaint = known.has(name) ? null : await complaintOf(name, eligibility, { identities: [], account: null })
      if (complaint === null) ofDomains.push(name)
    }
    const isClosed = isPrivateHost(new URL(config.ACME_DIRECTORY).hostname)
    const wanted = wantedCertificates(config, ofDomains, isClosed)
    await db.write((tx) => follow(tx, wanted, clock.now()))
  }

  async #stepsOf(name: string, prove: Prove): Promise<void> {
    const { db, clock } = this.#deps
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const row = certificateNamed(db.read, name)
      if (row === undefined || row.lookAt > clock.now()) return
      try {
        await this.#steps.take(row, prove)
      } catch (error) {
        await this.#steps.fail(row, error)
        return
      }
    }
  }

  #pair(version: Version): CertificatePair | null {
    const { db, vault, log } = this.#deps
    try {
      return pairOf(db.read, vault, version)
    } catch (error) {
      log.error({ event: 'certificate.key_lost', err: error }, 'The key of a certificate cannot be opened')
      return null
    }
  }
}
