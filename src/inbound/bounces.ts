// What comes to the addresses of reports: it is read, believed as far as it shows what it knows, and never answered.

import type { Log } from '../base/log.ts'
import type { Applied, Feedback } from '../outbound/feedback.ts'
import type { Inspection } from '../workers/inspection.ts'
import type { Journal } from './journal.ts'
import type { Passage } from './received-transaction.ts'
import type { ReportAddress } from './report-address.ts'

interface Parts {
  feedback: Pick<Feedback, 'receive'>
  journal: Pick<Journal, 'noteReport'>
  log: Log
}

export class Bounces {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Applies a report, with its row in the inbound log of the team whose mail it is about. A report that cannot be believed is
   * taken all the same: whoever sends it would only send another one about it.
   * @returns false for a mail that is no report
   */
  async take(passage: Passage, { email, rcptTo, domain }: ReportAddress, inspection: Inspection): Promise<boolean> {
    const { feedback, journal, log } = this.#parts
    const { report, verdict } = inspection
    if (report === null) return false
    const arrived = {
      report,
      emailN: email?.n ?? null,
      voucher: verdict.fromAligned ? verdict.fromDomain : null,
      receivedAt: passage.receivedAt,
    }
    const applied = await feedback.receive(arrived, (tx, { email: about, detail }: Applied) => {
      const to = { teamId: about!.teamId, mailboxId: about!.mailboxId, domain, rcptTo }
      return journal.noteReport(tx, passage, to, { kind: report.kind, message_id: about!.id, outcome: detail })
    })
    if (applied.email === null) log.info({ kind: report.kind, queueId: passage.transaction.queueId }, applied.detail)
    return true
  }
}
