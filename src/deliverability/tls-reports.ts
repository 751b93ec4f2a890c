// Reports about TLS with the mail servers of domains here (RFC 8460): added up by day, reporter, policy and result.

import type { Clock } from '../base/clock.ts'
import { DAY_MS } from '../base/durations.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import { readTlsReport, type TlsPolicyType, type TlsReport, type TlsReportPolicy } from '../reports/tls-report.ts'
import { TLS_REPORTS } from './records.ts'

/** Reports of one reporter about one domain in a day. */
export const TLS_REPORTS_PER_DAY = 48
/** Reports about days before are not taken, nor those of a longer span. */
const AGE_MAX_MS = 90 * DAY_MS
const SPAN_MAX_MS = 8 * DAY_MS
/** How long counts are kept. */
const KEPT_MS = 400 * DAY_MS
/** Different failures of a report about one domain; the others are added up as `other`. */
const FAILURES_MAX = 100
const REPORTERS_SHOWN = 100

interface Deps {
  db: Db
  clock: Clock
  directory: Pick<Directory, 'domains'>
}

/** Sessions that failed for one reason. */
export interface TlsFailureCount {
  policyType: TlsPolicyType
  /** A word of RFC 8460 §4.3. */
  result: string
  /** The mail server; "" where reports name none. */
  host: string
  sessions: number
}

export interface TlsSummary {
  succeeded: number
  failed: number
  reporters: string[]
  /** The most sessions first. */
  failures: TlsFailureCount[]
}

export class TlsReports {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** @param reporter the domain that DMARC has authenticated @throws Error that says why the report is not taken */
  async take(content: Uint8Array, reporter: string): Promise<void> {
    const { db, clock, directory } = this.#deps
    const report = readTlsReport(content)
    const now = clock.now()
    if (report.endAt < now - AGE_MAX_MS || report.beginAt > now + DAY_MS) {
      throw new Error('The report is too old, or early.')
    }
    if (report.endAt - report.beginAt > SPAN_MAX_MS) throw new Error('The report covers more than 8 days.')
    const own = report.policies.filter(({ domain }) => directory.domains.byName(domain) !== undefined)
    if (own.length === 0) throw new Error('The report is about another domain.')
    await db.write((tx) => {
      for (const [domain, policies] of Map.groupBy(own, (policy) => policy.domain)) {
        storeReport(tx, { report, domain, policies, reporter, now })
      }
    })
  }

  /** What reports say of a domain. @param since ms @param limit of failures */
  async summary(domain: string, since: number, limit: number): Promise<TlsSummary> {
    const { scan } = this.#deps.db
    const values = [domain, dayOf(since)]
    const where = 'FROM tls_rows WHERE domain = ? AND day >= ?'
    const totals = await scan.get<{ succeeded: number; failed: number }>(
      `SELECT coalesce(sum(iif(result = '', sessions, 0)), 0) AS succeeded,
         coalesce(sum(iif(result <> '', sessions, 0)), 0) AS failed ${where}`,
      values,
    )
    const failures = await scan.all<{ policy_type: TlsPolicyType; result: string; host: string; sessions: number }>(
      `SELECT policy_type, result, host, sum(sessions) AS sessions ${where} AND result <> ''
       GROUP BY policy_type, result, host ORDER BY sessions DESC, result, host LIMIT ?`,
      [...values, limit],
    )
    const reporters = await scan.all<{ reporter: string }>(
      `SELECT DISTINCT reporter ${where} ORDER BY reporter LIMIT ${REPORTERS_SHOWN}`,
      values,
    )
    return {
      ...totals!,
      reporters: reporters.map(({ reporter }) => reporter),
      failures: failures.map(({ policy_type: policyType, ...failure }) => ({ policyType, ...failure })),
    }
  }

  /** Deletes counts and reports after their time. @returns how many rows */
  prune(): Promise<number> {
    const before = this.#deps.clock.now() - KEPT_MS
    return this.#deps.db.write(
      (tx) =>
        tx.run('DELETE FROM tls_reports WHERE end_at < ?', [before]).changes +
        tx.run('DELETE FROM tls_rows WHERE day < ?', [dayOf(before)]).changes,
    )
  }
}

interface Counted {
  report: TlsReport
  domain: string
  policies: readonly TlsReportPolicy[]
  reporter: string
  now: number
}

/** The first report with an id counts. @throws Error */
function storeReport(tx: Tx, { report, domain, policies, reporter, now }: Counted): void {
  const { reportId, organization, beginAt, endAt } = report
  const same = 'WHERE domain = ? AND reporter = ? AND report_id = ?'
  if (TLS_REPORTS.get(tx, same, [domain, reporter, reportId]) !== undefined) throw new Error('The report is known.')
  const today = tx.get<{ count: number }>(
    'SELECT count(*) AS count FROM tls_reports WHERE domain = ? AND reporter = ? AND received_at > ?',
    [domain, reporter, now - DAY_MS],
  )!.count
  if (today >= TLS_REPORTS_PER_DAY) throw new Error('The reporter has sent too many reports about the domain today.')
  TLS_REPORTS.insert(tx, { domain, reporter, reportId, organization, beginAt, endAt, receivedAt: now })
  const sharePerPolicy = Math.ceil(FAILURES_MAX / policies.length)
  for (const policy of policies) {
    for (const { result, host, sessions } of resultsOf(policy, sharePerPolicy)) {
      if (sessions === 0) continue
      tx.run(
        `INSERT INTO tls_rows (domain, day, reporter, policy_type, result, host, sessions) VALUES (?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET sessions = sessions + excluded.sessions`,
        [domain, dayOf(beginAt), reporter, policy.type, result, host, sessions],
      )
    }
  }
}

/** The total counts: details that exceed it are cut, and sessions without a detail are `other`. */
function resultsOf({ succeeded, failed, failures }: TlsReportPolicy, detailsMax: number) {
  const results = [{ result: '', host: '', sessions: succeeded }]
  let left = failed
  for (const failure of failures.slice(0, detailsMax)) {
    const sessions = Math.min(failure.sessions, left)
    results.push({ ...failure, sessions })
    left -= sessions
  }
  return [...results, { result: 'other', host: '', sessions: left }]
}

/** Days since 1970, UTC. */
function dayOf(at: number): number {
  return Math.floor(at / DAY_MS)
}
