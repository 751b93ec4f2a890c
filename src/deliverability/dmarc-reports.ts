// Aggregate reports of DMARC about domains here: taken in with the message, read in the background, and added up by day and source.

import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { DAY_MS } from '../base/durations.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Directory } from '../directory/directory.ts'
import type { AuthVerdict } from '../mime/message.ts'
import { type AggregateHead, type AggregateRow, readAggregate } from '../reports/dmarc-aggregate.ts'
import type { Store } from '../store/store.ts'
import { DMARC_REPORTS, REPORT_INTAKE } from './records.ts'
import { attachedReport } from './report-content.ts'

/** Local part that reports are sent to, at the mail host. */
const REPORTS_TO = 'dmarc'
/** Messages that wait to be read, of one reporter and of all; further ones are not read. */
export const INTAKE_OF_REPORTER_MAX = 100
export const INTAKE_MAX = 1000
/** Messages read in one round. */
const ROUND_MAX = 50
/** Bytes of a message that is read: a packed report in base64 with its header. */
const MESSAGE_MAX = 8 * 1024 * 1024
/** Reports of one reporter about one domain in a day, and sources of one report; the others are added up without their address. */
export const REPORTS_PER_DAY = 48
export const SOURCES_MAX = 1000
/** Reports about days before are not taken. */
const AGE_MAX_MS = 90 * DAY_MS
/** How long counts are kept. */
export const KEPT_MS = 400 * DAY_MS
const READ_MAX_MS = 10_000
/** Rows between two turns of the event loop. */
const ROWS_PER_TURN = 500

interface Deps {
  db: Db
  clock: Clock
  log: Log
  config: Config
  store: Pick<Store, 'blobs'>
  directory: Pick<Directory, 'domains'>
}

/** A received message, as far as a report needs it. */
export interface ReportMail {
  hash: Uint8Array
  sizeBytes: number
  verdict: Pick<AuthVerdict, 'dmarc' | 'fromDomain'>
  recipients: readonly string[]
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

  /** Notes a message to the report address, in the unit of work that stores it. Only reporters that DMARC authenticates are read. */
  note(tx: Tx, mail: ReportMail): void {
    const { config, clock } = this.#deps
    const own = config.MAIL_HOSTS.map((host) => `${REPORTS_TO}@${host}`)
    if (!mail.recipients.some((to) => own.includes(to.toLowerCase()))) return
    if (mail.verdict.dmarc !== 'pass' || mail.sizeBytes > MESSAGE_MAX) return
    const { hash: content, sizeBytes } = mail
    const reporter = mail.verdict.fromDomain
    const waiting = tx.get<{ count: number; own: number }>(
      'SELECT count(*) AS count, coalesce(sum(reporter = ?), 0) AS own FROM report_intake',
      [reporter],
    )!
    if (waiting.count >= INTAKE_MAX || waiting.own >= INTAKE_OF_REPORTER_MAX) return
    REPORT_INTAKE.insert(tx, { content, sizeBytes, reporter, receivedAt: clock.now() })
  }

  /** Reads the messages that wait. @returns how many */
  async readWaiting(signal: AbortSignal): Promise<number> {
    const { db, log } = this.#deps
    const waiting = REPORT_INTAKE.all(db.read, 'ORDER BY n LIMIT ?', [ROUND_MAX])
    let done = 0
    for (const mail of waiting) {
      if (signal.aborted) break
      await this.#read(mail).catch((error: unknown) => {
        const { reporter } = mail
        log.info(
          { event: 'dmarc.report_refused', reporter, reason: String((error as Error).message) },
          'Report not read',
        )
      })
      await db.write((tx) => tx.run('DELETE FROM report_intake WHERE n = ?', [mail.n]))
      done++
    }
    return done
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
    const passes = "dkim = 'pass' OR spf = 'pass'"
    const rows = await scan.all<Record<string, number> & { source_ip: string }>(
      `SELECT source_ip, sum(messages) AS messages, sum(iif(${passes}, messages, 0)) AS passed,
         sum(iif(dkim = 'pass', messages, 0)) AS dkim, sum(iif(spf = 'pass', messages, 0)) AS spf,
         sum(iif(disposition <> 'none', messages, 0)) AS stopped
       FROM dmarc_rows WHERE domain = ? AND day >= ? GROUP BY source_ip ORDER BY messages DESC, source_ip`,
      values,
    )
    const reporters = await scan.all<{ reporter: string }>(
      'SELECT DISTINCT reporter FROM dmarc_rows WHERE domain = ? AND day >= ? ORDER BY reporter LIMIT 100',
      values,
    )
    const sources = rows.map(({ source_ip: sourceIp, messages, passed, dkim, spf, stopped }) => {
      return { sourceIp, messages: messages!, passed: passed!, dkim: dkim!, spf: spf!, stopped: stopped! }
    })
    return {
      messages: sources.reduce((sum, { messages }) => sum + messages, 0),
      passed: sources.reduce((sum, { passed }) => sum + passed, 0),
      reporters: reporters.map(({ reporter }) => reporter),
      sources: sources.slice(0, limit),
    }
  }

  /** @throws Error that says why the report is not taken */
  async #read({ content, sizeBytes, reporter }: { content: Uint8Array; sizeBytes: number; reporter: string }) {
    const { clock, db, store, directory } = this.#deps
    const xml = attachedReport(await store.blobs.bytes(content, 0, sizeBytes))
    if (xml === null) throw new Error('The message has no report.')
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
