// The steps of one certificate, by its state (docs/design/internet.md §2): order, proof of the names, issue, proof by connections, renewal.

import { X509Certificate } from 'node:crypto'
import { certificateId } from '../acme/issued-chain.ts'
import { AcmeError } from '../acme/problem.ts'
import { HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import type { Notifier } from '../base/notifier.ts'
import type { CertificatePair } from '../config/certificate.ts'
import type { Config } from '../config/config.ts'
import type { Reader } from '../db/db.ts'
import { type Authorities, REHEARSALS } from './authorities.ts'
import { complaintOf } from './eligibility.ts'
import { Ordering, type OrderingDeps, ProofError, type StepOutcome } from './ordering.ts'
import type { Certificate, CertificateState, StoredOrder, Version } from './records.ts'
import {
  chainOf,
  countPoll,
  orderOfCertificate,
  pairOf,
  provenVersion,
  replaceEarlier,
  servedVersion,
  updateCertificate,
  updateVersion,
  versionsOf,
} from './rows.ts'
import {
  afterFailures,
  afterIssues,
  FAILURES_KEPT,
  pauseAfter,
  pollAt,
  renewalAt,
  renewalIn,
  suggestionAt,
} from './schedule.ts'

/** A difference to the clock of the authority with which no order is placed. */
const CLOCK_OFF_MS = 5 * MINUTE_MS
/** How often names that were not eligible are looked up again. */
export const NAMES_EVERY_MS = HOUR_MS
const REASON_MAX = 1000
/** RFC 5280 §5.3.1. */
const KEY_COMPROMISE = 1

export interface StepDeps extends OrderingDeps {
  config: OrderingDeps['config'] & Pick<Config, 'ACME_DIRECTORY' | 'MAIL_HOSTS'>
  authorities: Authorities
  notifier: Notifier
  /** By directory, the authority for tests of each; {@link REHEARSALS} unless given. */
  rehearsals?: ReadonlyMap<string, string> | undefined
  /** 0 to 1. */
  random: () => number
}

/** Connects to the listeners. @returns why they do not serve this certificate as they should, one sentence; null when they do */
export type Prove = (version: Version, pair: CertificatePair) => Promise<string | null>

/** What the authority suggests; `dueAt` is null where it suggests nothing new. */
interface Suggestion {
  dueAt: number | null
  ariAt: number
  changes: Partial<Certificate>
}

export class CertificateSteps {
  readonly #deps: StepDeps
  readonly #authorities: Authorities
  readonly #ordering: Ordering
  readonly #random: () => number

  constructor(deps: StepDeps) {
    this.#deps = deps
    this.#authorities = deps.authorities
    this.#ordering = new Ordering(deps)
    this.#random = deps.random
  }

  /** The step that is due in its state. @throws whatever {@link fail} takes */
  async take(row: Certificate, prove: Prove): Promise<void> {
    switch (row.state) {
      case 'absent':
      case 'due':
        return this.#order(row)
      case 'ordered':
        return this.#withOrder(row, (order) => this.#prove(row, order))
      case 'validated':
        return this.#withOrder(row, async (order) => this.#later(row, await this.#ordering.issue(row, order)))
      case 'issued':
        return this.#install(row, prove)
      case 'proven':
        return this.#watch(row)
    }
  }

  async #order(row: Certificate): Promise<void> {
    const { config, db, clock, resolver } = this.#deps
    const now = clock.now()
    const versions = versionsOf(db.read, row.n)
    const names = row.names.join()
    const issuedAt = versions.filter((one) => one.names.join() === names).map((one) => one.issuedAt)
    const free = Math.max(afterFailures(row.failedAt, now), afterIssues(issuedAt, now))
    if (free > now)
      return this.#wait(row, free, 'Too many orders were placed lately; the limits of the authority are kept.')
    const { client, account } = await this.#authorities.open(config.ACME_DIRECTORY)
    const { caaIdentities } = await client.directory()
    if (Math.abs(client.aheadMs) > CLOCK_OFF_MS) {
      const minutes = Math.round(Math.abs(client.aheadMs) / MINUTE_MS)
      return this.#wait(
        row,
        now + HOUR_MS,
        `The clock differs from that of the authority by ${minutes} minutes. Set the clock.`,
      )
    }
    const authority = { identities: caaIdentities, account }
    const eligibility = { resolver, mailHost: config.MAIL_HOSTS[0]! }
    const complaints = await Promise.all(row.names.map((name) => complaintOf(name, eligibility, authority)))
    const eligible = row.names.filter((_, index) => complaints[index] === null)
    if (complaints[0] !== null) return this.#wait(row, now + NAMES_EVERY_MS, complaints[0]!)
    const rehearsal = (this.#deps.rehearsals ?? REHEARSALS).get(config.ACME_DIRECTORY)
    const isFirst = row.rehearsedAt === null && versions.length === 0 && rehearsal !== undefined
    const directory = isFirst ? rehearsal : config.ACME_DIRECTORY
    await this.#ordering.create(row, { directory, names: eligible, rehearsal: isFirst })
  }

  async #withOrder(row: Certificate, work: (order: StoredOrder) => Promise<void>): Promise<void> {
    const { db, clock } = this.#deps
    const order = orderOfCertificate(db.read, row.n)
    if (order !== undefined) return work(order)
    await db.write((tx) => updateCertificate(tx, row.n, { state: restingState(db.read, row.n), lookAt: clock.now() }))
  }

  async #prove(row: Certificate, order: StoredOrder): Promise<void> {
    const outcome = await this.#ordering.prove(row, order)
    if (outcome.kind === 'poll') return this.#later(row, outcome)
    const { db, clock } = this.#deps
    const now = clock.now()
    if (order.isRehearsal) {
      await this.#ordering.end(row)
      await db.write((tx) => updateCertificate(tx, row.n, { state: 'absent', rehearsedAt: now, lookAt: now }))
    } else await db.write((tx) => updateCertificate(tx, row.n, { state: 'validated', lookAt: now }))
  }

  /** After a step that stored its outcome, or that has to wait for the authority. */
  async #later(row: Certificate, outcome: StepOutcome): Promise<void> {
    if (outcome.kind === 'next') return
    const { db, clock } = this.#deps
    const { polls } = orderOfCertificate(db.read, row.n)!
    await db.write((tx) => {
      countPoll(tx, row.n)
      updateCertificate(tx, row.n, { lookAt: pollAt(polls, outcome.retryAt, clock.now()) })
    })
  }

  /** The listeners take the new version, and connections prove it; without proof the version before returns. */
  async #install(row: Certificate, prove: Prove): Promise<void> {
    const { db, notifier, clock, log } = this.#deps
    const version = versionsOf(db.read, row.n)[0]!
    const complaint = await prove(version, pairOf(db.read, this.#deps.vault, version))
    if (complaint !== null) {
      await db.write((tx) => updateVersion(tx, version.n, { state: 'refused' }))
      notifier.notify('certificates')
      throw new AcmeError(`The new certificate is not used: ${complaint}`)
    }
    const former = versionsOf(db.read, row.n).find(({ n, state }) => n < version.n && state === 'proven')
    const now = clock.now()
    const { notBefore, notAfter } = version
    const dueAt = renewalAt({ notBefore, notAfter }, this.#random())
    const cleared = { reason: null, failures: 0, failedAt: [], ariStart: null, ariEnd: null, ariUrl: null, ariAt: now }
    await db.write((tx) => {
      updateVersion(tx, version.n, { state: 'proven', provenAt: now })
      replaceEarlier(tx, row.n, version.n)
      updateCertificate(tx, row.n, { ...cleared, state: 'proven', dueAt, lookAt: now, revoke: false })
    })
    log.info(
      { event: 'certificate.proven', name: row.name, until: new Date(notAfter).toISOString() },
      'New certificate in use',
    )
    notifier.notify('certificates')
    if (row.revoke && former !== undefined) await this.#revoke(row, former)
  }

  async #revoke(row: Certificate, version: Version): Promise<void> {
    const { db, log } = this.#deps
    const { client } = await this.#authorities.open(version.directory)
    try {
      await client.revoke(derOf(chainOf(db.read, version.n)), KEY_COMPROMISE)
      await db.write((tx) => updateVersion(tx, version.n, { state: 'revoked' }))
    } catch (error) {
      // The one in use is another one by now: nothing waits for this but the next renewal.
      log.error({ event: 'certificate.not_revoked', err: error, name: row.name }, 'A certificate could not be revoked')
    }
  }

  /** A proven version: asks the authority for its suggestion, and looks for further names, until the renewal is due. */
  async #watch(row: Certificate): Promise<void> {
    const { db, clock } = this.#deps
    const version = provenVersion(db.read, row.n)
    const now = clock.now()
    if (version === undefined || (row.dueAt ?? 0) <= now) return this.#due(row)
    const missing = row.names.filter((name) => !version.names.includes(name))
    if (missing.length > 0 && (await this.#anyEligible(missing))) return this.#due(row)
    const suggestion = await this.#suggestion(row, version)
    const dueAt = suggestion.dueAt ?? row.dueAt!
    const lookAt = Math.min(
      dueAt,
      suggestion.ariAt,
      missing.length > 0 ? now + NAMES_EVERY_MS : Number.MAX_SAFE_INTEGER,
    )
    await db.write((tx) =>
      updateCertificate(tx, row.n, { ...suggestion.changes, dueAt, lookAt: Math.max(lookAt, now) }),
    )
  }

  async #due(row: Certificate): Promise<void> {
    const { db, clock } = this.#deps
    await db.write((tx) => updateCertificate(tx, row.n, { state: 'due', lookAt: clock.now() }))
  }

  async #anyEligible(names: readonly string[]): Promise<boolean> {
    const { config, resolver } = this.#deps
    const eligibility = { resolver, mailHost: config.MAIL_HOSTS[0]! }
    for (const name of names) {
      if ((await complaintOf(name, eligibility, { identities: [], account: null })) === null) return true
    }
    return false
  }

  /** What the authority suggests now (RFC 9773 §4); what it suggested before where it does not answer. */
  async #suggestion(row: Certificate, version: Version): Promise<Suggestion> {
    const { clock, db, log } = this.#deps
    const now = clock.now()
    if ((row.ariAt ?? 0) > now) return { dueAt: null, ariAt: row.ariAt!, changes: {} }
    try {
      const id = certificateId(chainOf(db.read, version.n))
      const { client } = await this.#authorities.open(version.directory)
      const asked = id === null ? null : await client.renewalInfo(id)
      const ariAt = suggestionAt(asked?.retryAt ?? null, now)
      if (asked === null) return { dueAt: null, ariAt, changes: { ariAt } }
      const { start, end, explanation: ariUrl } = asked.value
      // One time is chosen in each window, and kept while the window stays.
      const isKnown = start === row.ariStart && end === row.ariEnd
      const dueAt = isKnown ? null : renewalIn({ start, end }, this.#random())
      return { dueAt, ariAt, changes: { ariAt, ariStart: start, ariEnd: end, ariUrl } }
    } catch (error) {
      log.info(
        { event: 'certificate.no_suggestion', err: error, name: row.name },
        'The authority gave no renewal information',
      )
      const ariAt = suggestionAt(error instanceof AcmeError ? error.retryAt : null, now)
      return { dueAt: null, ariAt, changes: { ariAt } }
    }
  }

  /** A step failed: the order ends, and another one is placed after a pause. */
  async fail(row: Certificate, error: unknown): Promise<void> {
    const { db, clock, log, config } = this.#deps
    log.warn(
      { event: 'certificate.failed', err: error, name: row.name, state: row.state },
      'A certificate was not obtained',
    )
    if (error instanceof AcmeError && error.type === 'accountDoesNotExist') {
      await this.#authorities.forget(orderOfCertificate(db.read, row.n)?.directory ?? config.ACME_DIRECTORY)
    }
    const now = clock.now()
    // The order is still at the authority: it is continued, not placed again.
    const isOrderKept =
      error instanceof AcmeError && error.isTransient && orderOfCertificate(db.read, row.n) !== undefined
    if (!isOrderKept) await this.#ordering.end(row)
    const failures = row.failures + 1
    const retryAt = error instanceof AcmeError ? error.retryAt : null
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, REASON_MAX)
    await db.write((tx) =>
      updateCertificate(tx, row.n, {
        ...{ failures, reason },
        failedAt: [...row.failedAt, now].slice(-FAILURES_KEPT),
        lookAt: Math.max(now + pauseAfter(failures, this.#random()), retryAt ?? 0),
        ...(isOrderKept ? {} : { state: restingState(db.read, row.n) }),
        ...(error instanceof ProofError ? { method: error.method } : {}),
      }),
    )
  }

  async #wait(row: Certificate, until: number, reason: string): Promise<void> {
    await this.#deps.db.write((tx) => updateCertificate(tx, row.n, { lookAt: until, reason }))
  }
}

/** The state between orders. */
function restingState(reader: Reader, certificate: number): CertificateState {
  return servedVersion(reader, certificate) === undefined ? 'absent' : 'due'
}

/** The first certificate of a chain, DER. */
function derOf(chain: string): Buffer {
  return new X509Certificate(chain).raw
}
