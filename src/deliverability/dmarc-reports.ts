// Aggregate reports of DMARC about domains here: added up by day and source, and what they advise.

import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { DAY_MS } from '../base/durations.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { Domain } from '../directory/domains/domain-record.ts'
import { type AggregateHead, type AggregateRow, readAggregate } from '../reports/dmarc-aggregate.ts'
import type { Store } from '../store/store.ts'
import { type DmarcAdvice, dmarcAdvice, OWN_CLEAN_DAYS, VERDICT_DAYS, type VerdictFacts } from './dmarc-verdict.ts'
import { receiversOf, reporterOf } from './known-reporters.ts'
import { DMARC_REPORTS } from './records.ts'

/** Reports of one reporter about one domain in a day, and sources of one report; the others are added up without their address. */
export const REPORTS_PER_DAY = 48
export const SOURCES_MAX = 1000
/** Reports about days before are not taken. */
const AGE_MAX_MS = 90 * DAY_MS
/** How long counts are kept. */
export const KEPT_MS = 400 * DAY_MS
const REPORTERS_SHOWN = 100
/** DMARC passes by either (RFC 7489 §6.6.2). */
const PASSES = "(dkim = 'pass' OR spf = 'pass')"
const READ_MAX_MS = 10_000
/** Rows between two turns of the event loop. */
const ROWS_PER_TURN = 500

interface Deps {
  db: Db
  clock: Clock
  config: Config
  resolver: Resolver
  store: Pick<Store, 'log'>
  directory: Pick<Directory, 'domains'>
}

/** How much mail of a domain came from an address, by reports. */
export interface DmarcSource {
  /** "" for all beyond the bound of a report. */
  sourceIp: string
  messages: number
  /** Of them: passed DMARC, and by which of the two. */
  passed: number
  dkim: number
  spf: number
  /** Of them: put into Junk, or rejected, because of the policy. */
  stopped: number
}

export interface DmarcSummary {
  messages: number
  passed: number
  reporters: string[]
  /** The most messages first. */
  sources: DmarcSource[]
}

export class DmarcReports {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Deletes counts and reports after their time. @returns how many rows */
  prune(): Promise<number> {
    const before = this.#deps.clock.now() - KEPT_MS
    return this.#deps.db.write(
      (tx) =>
        tx.run('DELETE FROM dmarc_reports WHERE end_at < ?', [before]).changes +
        tx.run('DELETE FROM dmarc_rows WHERE day < ?', [dayOf(before)]).changes,
    )
  }

  /** What reports say of a domain. @param since ms @param limit of sources */
  async summary(domain: string, since: number, limit: number): Promise<DmarcSummary> {
    const { scan } = this.#deps.db
    const values = [domain, dayOf(since)]
    const rows = await scan.all<Record<string, number> & { source_ip: string }>(
      `SELECT source_ip, sum(messages) AS messages, sum(iif(${PASSES}, messages, 0)) AS passed,
         sum(iif(dkim = 'pass', messages, 0)) AS dkim, sum(iif(spf = 'pass', messages, 0)) AS spf,
         sum(iif(disposition <> 'none', messages, 0)) AS stopped
       FROM dmarc_rows WHERE domain = ? AND day >= ? GROUP BY source_ip ORDER BY messages DESC, source_ip`,
      values,
    )
    const reporters = await this.#reportersOf(domain, since)
    const sources = rows.map(({ source_ip: sourceIp, messages, passed, dkim, spf, stopped }) => {
      return { sourceIp, messages: messages!, passed: passed!, dkim: dkim!, spf: spf!, stopped: stopped! }
    })
    return {
      messages: sources.reduce((sum, { messages }) => sum + messages, 0),
      passed: sources.reduce((sum, { passed }) => sum + passed, 0),
      reporters: reporters.slice(0, REPORTERS_SHOWN),
      sources: sources.slice(0, limit),
    }
  }

  /** Whether the policy can be tightened, by receivers of the domain's mail. */
  async advice(domain: Pick<Domain, 'name' | 'teamId' | 'createdAt'>): Promise<DmarcAdvice> {
    const now = this.#deps.clock.now()
    // Who had the name before may be another team.
    const since = Math.max(now - VERDICT_DAYS * DAY_MS, domain.createdAt)
    const receivers = await receiversOf(this.#deps, domain, now)
    const reporters = await this.#reportersOf(domain.name, since)
    const known = reporters.filter((reporter) => receivers.has(reporterOf(reporter)))
    const values = [domain.name, dayOf(since), JSON.stringify(known)]
    const where = `FROM dmarc_rows WHERE domain = ? AND day >= ? AND reporter IN (SELECT value FROM json_each(?))`
    const counts = await this.#deps.db.scan.get<Omit<VerdictFacts, 'reporters' | 'ownFailures'>>(
      `SELECT count(DISTINCT day) AS days, coalesce(sum(messages), 0) AS messages,
         coalesce(sum(iif(${PASSES}, messages, 0)), 0) AS passed ${where}`,
      values,
    )
    const own = await this.#ownAddresses()
    const failed = await this.#deps.db.scan.get<{ count: number }>(
      `SELECT coalesce(sum(iif(${PASSES}, 0, messages)), 0) AS count ${where}
       AND day >= ? AND source_ip IN (SELECT value FROM json_each(?))`,
      [...values, dayOf(now) - OWN_CLEAN_DAYS, JSON.stringify(own ?? [])],
    )
    const ownFailures = own === null ? null : failed!.count
    return dmarcAdvice({ ...counts!, reporters: new Set(known.map(reporterOf)).size, ownFailures })
  }

  async #reportersOf(domain: string, since: number): Promise<string[]> {
    const rows = await this.#deps.db.scan.all<{ reporter: string }>(
      'SELECT DISTINCT reporter FROM dmarc_rows WHERE domain = ? AND day >= ? ORDER BY reporter',
      [domain, dayOf(since)],
    )
    return rows.map(({ reporter }) => reporter)
  }

  /** Of the name that sends, in DNS; null when DNS gives none. */
  async #ownAddresses(): Promise<string[] | null> {
    const { resolver, config } = this.#deps
    const answers = await Promise.allSettled(['A', 'AAAA'].map((type) => resolver.resolve(config.MAIL_HOSTS[0]!, type)))
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? (answer.value as string[]) : []))
    return addresses.length === 0 ? null : addresses
  }

  /** @param xml the report @param reporter the domain that DMARC has authenticated @throws Error that says why the report is not taken */
  async take(xml: Buffer, reporter: string): Promise<void> {
    const { clock, db, directory } = this.#deps
    const { head, rows } = await readAggregate(xml)
    if (directory.domains.byName(head.domain) === undefined) throw new Error('The report is about another domain.')
    const now = clock.now()
    if (head.endAt < now - AGE_MAX_MS || head.beginAt > now + DAY_MS)
      throw new Error('The report is too old, or early.')
    const counts = await addedUp(rows, clock)
    await db.write((tx) => storeReport(tx, { head, counts, reporter, now }))
  }
}

interface Counted {
  head: AggregateHead
  /** Messages by source and results, as JSON. */
  counts: ReadonlyMap<string, number>
  reporter: string
  now: number
}

/** Adds up equal rows. @throws Error when that takes too long */
async function addedUp(rows: Iterable<AggregateRow>, clock: Clock): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const sources = new Set<string>()
  const end = clock.monotonic() + READ_MAX_MS
  let read = 0
  for (const { sourceIp, dkim, spf, disposition, count } of rows) {
    if (++read % ROWS_PER_TURN === 0) await turn()
    if (clock.monotonic() > end) throw new Error('The report takes too long to read.')
    if (sources.size < SOURCES_MAX) sources.add(sourceIp)
    const key = JSON.stringify([sources.has(sourceIp) ? sourceIp : '', dkim, spf, disposition])
    counts.set(key, (counts.get(key) ?? 0) + count)
  }
  return counts
}

/** The first report with an id counts; later ones with the same id are copies (RFC 7489 §7.2.1.1). @throws Error */
function storeReport(tx: Tx, { head, counts, reporter, now }: Counted): void {
  const { domain, reportId } = head
  const same = 'WHERE domain = ? AND reporter = ? AND report_id = ?'
  if (DMARC_REPORTS.get(tx, same, [domain, reporter, reportId]) !== undefined) throw new Error('The report is known.')
  const today = tx.get<{ count: number }>(
    'SELECT count(*) AS count FROM dmarc_reports WHERE domain = ? AND reporter = ? AND received_at > ?',
    [domain, reporter, now - DAY_MS],
  )!.count
  if (today >= REPORTS_PER_DAY) throw new Error('The reporter has sent too many reports about the domain today.')
  const { organization, policy, beginAt, endAt } = head
  DMARC_REPORTS.insert(tx, { domain, reporter, reportId, organization, policy, beginAt, endAt, receivedAt: now })
  const day = dayOf(beginAt)
  for (const [key, messages] of counts) {
    const [sourceIp, dkim, spf, disposition] = JSON.parse(key) as string[]
    tx.run(
      `INSERT INTO dmarc_rows (domain, day, source_ip, reporter, dkim, spf, disposition, messages) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET messages = messages + excluded.messages`,
      [domain, day, sourceIp!, reporter, dkim!, spf!, disposition!, messages],
    )
  }
}

/** Days since 1970, UTC. */
function dayOf(at: number): number {
  return Math.floor(at / DAY_MS)
}
