// Messages with reports about domains here: noted with the message, read in the background, and handed on by their kind.

import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Config } from '../config/config.ts'
import type { Db, Tx } from '../db/db.ts'
import { DMARC_REPORTS_TO } from '../directory/domains/dns-records.ts'
import { TLS_REPORTS_TO } from '../directory/domains/tls-records.ts'
import type { AuthVerdict } from '../mime/message.ts'
import type { Store } from '../store/store.ts'
import type { DmarcReports } from './dmarc-reports.ts'
import { reporterOf } from './known-reporters.ts'
import { REPORT_INTAKE } from './records.ts'
import { attachedReport } from './report-content.ts'
import type { TlsReports } from './tls-reports.ts'

/** Local parts that reports are sent to, at the mail host. */
const REPORTS_TO = [DMARC_REPORTS_TO, TLS_REPORTS_TO]
/** Messages that wait to be read, of one reporter and of all; further ones are not read. */
export const INTAKE_OF_REPORTER_MAX = 100
export const INTAKE_MAX = 1000
/** Messages read in one round. */
const ROUND_MAX = 50
/** Bytes of a message that is read: a packed report in base64 with its header. */
const MESSAGE_MAX = 8 * 1024 * 1024

interface Deps {
  db: Db
  clock: Clock
  log: Log
  config: Config
  store: Pick<Store, 'blobs'>
  dmarc: Pick<DmarcReports, 'take'>
  tls: Pick<TlsReports, 'take'>
}

/** A received message, as far as a report needs it. */
export interface ReportMail {
  hash: Uint8Array
  sizeBytes: number
  verdict: Pick<AuthVerdict, 'dmarc' | 'fromDomain'>
  recipients: readonly string[]
}

export class ReportIntake {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Notes a message to a report address, in the unit of work that stores it. Only reporters that DMARC authenticates are read. */
  note(tx: Tx, mail: ReportMail): void {
    const { config, clock } = this.#deps
    const own = config.MAIL_HOSTS.flatMap((host) => REPORTS_TO.map((local) => `${local}@${host}`))
    if (!mail.recipients.some((to) => own.includes(to.toLowerCase()))) return
    if (mail.verdict.dmarc !== 'pass' || mail.sizeBytes > MESSAGE_MAX) return
    const { hash: content, sizeBytes } = mail
    const reporter = reporterOf(mail.verdict.fromDomain)
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
        log.info({ event: 'report.refused', reporter, reason: String((error as Error).message) }, 'Report not read')
      })
      await db.write((tx) => tx.run('DELETE FROM report_intake WHERE n = ?', [mail.n]))
      done++
    }
    return done
  }

  /** @throws Error that says why the report is not taken */
  async #read({ content, sizeBytes, reporter }: { content: Uint8Array; sizeBytes: number; reporter: string }) {
    const { store, dmarc, tls } = this.#deps
    const report = attachedReport(await store.blobs.bytes(content, 0, sizeBytes))
    if (report === null) throw new Error('The message has no report.')
    await (report.kind === 'dmarc' ? dmarc : tls).take(report.content, reporter)
  }
}
