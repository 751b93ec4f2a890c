// Handles reports (DSN, ARF) that arrive at a bounce or feedback address, and bounces that arrive at a mailbox.

import type { Log } from '../base/log.ts'
import type { Applied, Feedback } from '../outbound/feedback.ts'
import type { Inspection } from '../workers/inspection.ts'
import type { Journal } from './journal.ts'
import type { ReceivedRecord } from './received-transaction.ts'
import type { ReportAddress } from './report-address.ts'

interface Deps {
  feedback: Pick<Feedback, 'receive'>
  journal: Pick<Journal, 'noteReport'>
  log: Log
}

export class Bounces {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Applies a report and writes a row to the inbound log of the team that sent the reported message. An unverifiable report is
   * accepted too: rejecting it would only make the other server send another report.
   */
  async apply(
    received: ReceivedRecord,
    { email, rcptTo, domain }: ReportAddress,
    { report, verdict }: Inspection,
  ): Promise<void> {
    const { feedback, journal, log } = this.#deps
    if (report === null) return
    const arrival = {
      report,
      emailN: email?.n ?? null,
      voucher: verdict.fromAligned ? verdict.fromDomain : null,
      receivedAt: received.receivedAt,
    }
    const applied = await feedback.receive(arrival, (tx, { email: about, detail }: Applied) => {
      const to = { teamId: about!.teamId, mailboxId: about!.mailboxId, domain, rcptTo }
      return journal.noteReport(tx, received, to, { kind: report.kind, message_id: about!.id, outcome: detail })
    })
    if (applied.email === null)
      log.info(
        { event: 'smtp.report_unmatched', kind: report.kind, queueId: received.transaction.queueId },
        applied.detail,
      )
  }

  /**
   * Applies a bounce that was sent to an ordinary mailbox, because it is the envelope sender of messages that leave through a sending
   * account. The trust rules are those of the feedback address; the message itself is delivered as any other. Repeating it changes nothing.
   */
  async applyDelivered(received: ReceivedRecord, { report, verdict }: Inspection): Promise<void> {
    const [recipient, ...others] = received.transaction.recipients
    if (report?.kind !== 'bounce' || recipient === undefined || others.length > 0) return
    const { mailbox, teamId, rcptTo } = recipient
    const applied = await this.#deps.feedback.receive({
      report,
      emailN: null,
      voucher: verdict.fromAligned ? verdict.fromDomain : null,
      receivedAt: received.receivedAt,
      reader: { id: mailbox.id, teamId, addresses: [mailbox.email, rcptTo] },
    })
    if (applied.email === null) return
    const { id } = applied.email
    this.#deps.log.info({ event: 'smtp.bounce_delivered', emailId: id, mailboxId: mailbox.id }, applied.detail)
  }
}
