// Verification of domains: DNS and Amazon SES are asked first, and then one unit of work applies what they answered.

import { notFound, ProductError } from '../base/errors.ts'
import type { Db } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { CheckChange, DatedCheck } from '../directory/domains/check-changes.ts'
import type { Domain } from '../directory/domains/domain-record.ts'
import type { DomainInspection } from '../directory/domains/domains-verification.ts'
import type { ClientRecordCheck } from '../directory/names/client-records.ts'
import type { SendingAccounts } from '../outbound/outbound.ts'

export interface DomainDeps {
  db: Db
  directory: Pick<Directory, 'domains'>
  outbound: { accounts: { sesIdentities: Pick<SendingAccounts['sesIdentities'], 'look'> } }
}

/** A domain after a check that was asked for, and what DNS has. */
export interface DomainVerificationResult {
  domain: Domain
  checks: DatedCheck[]
  /** What the last checks found changed, newest first. */
  changes: CheckChange[]
  /** Of the records for mail programs. */
  clientChecks: ClientRecordCheck[]
}

/** Receives the current record; throws to refuse. */
type Check = (current: Domain) => void

/** Domains checked in one automatic round, and how many of them concurrently. */
const ROUND_MAX = 100
const CONCURRENCY = 10

export class DomainVerification {
  readonly #deps: DomainDeps

  constructor(deps: DomainDeps) {
    this.#deps = deps
  }

  /**
   * Checks DNS now and updates the domain.
   * @param check receives the current record, before the check and inside the unit of work; throws to refuse
   * @throws ProductError not_found, service_unavailable (no name server answered), conflict (another team has verified the name)
   */
  async verify(teamId: string, id: string, check?: Check): Promise<DomainVerificationResult> {
    const { db, directory } = this.#deps
    const before = directory.domains.get(teamId, id)
    if (before === undefined) throw notFound('domain')
    check?.(before)
    const [findings, clientChecks] = await Promise.all([
      this.#inspect(before),
      directory.domains.checkClientRecords(before),
    ])
    if (findings.verification === 'unknown') {
      throw new ProductError('service_unavailable', 'The name servers of the domain did not answer. Try again later.')
    }
    const domain = await db.write((tx) => {
      const current = directory.domains.getIn(tx, teamId, id)
      if (current !== undefined) check?.(current)
      return directory.domains.applyFindings(tx, id, findings, true)
    })
    if (domain === undefined) throw notFound('domain')
    const { checks, changes } = directory.domains.checks(teamId, id) ?? { checks: [], changes: [] }
    return { domain, checks, changes, clientChecks }
  }

  /**
   * Checks the domains whose check is due.
   * @param signal ends the round early; domains not checked stay due
   * @returns how many were checked
   */
  async recheckDue(signal?: AbortSignal): Promise<number> {
    const { db, directory } = this.#deps
    const due = directory.domains.due(ROUND_MAX)
    let checked = 0
    while (checked < due.length && !signal?.aborted) {
      const group = due.slice(checked, checked + CONCURRENCY)
      await Promise.all(
        group.map(async (domain) => {
          const findings = await this.#inspect(domain)
          await db.write((tx) => directory.domains.applyFindings(tx, domain.id, findings, false))
        }),
      )
      checked += group.length
    }
    return checked
  }

  /** Checks DNS, and Amazon SES where the team uses it. */
  async #inspect(domain: Domain): Promise<DomainInspection> {
    const { directory, outbound } = this.#deps
    const findings = await directory.domains.findings(domain)
    const isProven = findings.verification === 'found'
    return { ...findings, ses: await outbound.accounts.sesIdentities.look(domain.teamId, domain.name, isProven) }
  }
}
