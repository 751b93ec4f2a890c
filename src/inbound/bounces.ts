// Handles reports (DSN, ARF) that arrive at a bounce or feedback address, and bounces that arrive at a mailbox.

import type { Log } from '../base/log.ts'
import type { Applied, Feedback } from '../outbound/queue/feedback.ts'
import type { Journal } from './journal.ts'
import type { ForWriter, Inspected } from './received-message.ts'
import type { ReportAddress } from './report-address.ts'

interface Deps {
  feedback: Pick<Feedback, 'receive'>
  journal: Pick<Journal, 'noteReport'>
  log: Log
}

/** A message to a report address. */
export type ReportMessage = ForWriter<Inspected> & { readonly report: ReportAddress }

export class Bounces {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Applies a report and writes a row to the inbound log of the team that sent the reported message. An unverifiable report is
   * accepted too: rejecting it would only make the other server send another report.
   */
  async apply(message: ReportMessage): Promise<void> {
    const { feedback, journal, log } = this.#deps
    const { key, rcptTo, domain } = message.report
    const { report } = message.inspection
    if (report === null) return
    const arrival = { report, key, voucher: voucherOf(message), receivedAt: message.receivedAt }
    const applied = await feedback.receive(arrival, (tx, { email: about, detail }: Applied) => {
      const to = { teamId: about!.teamId, mailboxId: about!.mailboxId, domain, rcptTo }
      return journal.noteReport(tx, message, to, { kind: report.kind, message_id: about!.id, outcome: detail })
    })
    if (applied.email === null)
      log.info({ event: 'smtp.report_unmatched', kind: report.kind, queueId: message.queueId }, applied.detail)
  }

  /**
   * Applies a bounce that was sent to an ordinary mailbox, because it is the envelope sender of messages that leave through a sending
   * account. The trust rules are those of the feedback address; the message itself is delivered as any other. Repeating it changes nothing.
   */
  async applyDelivered(message: ForWriter<Inspected>): Promise<void> {
    const { report } = message.inspection
    const [recipient, ...others] = message.recipients
    if (report?.kind !== 'bounce' || recipient === undefined || others.length > 0) return
    const { mailbox, teamId, rcptTo } = recipient
    const applied = await this.#deps.feedback.receive({
      report,
      key: null,
      voucher: voucherOf(message),
      receivedAt: message.receivedAt,
      reader: { id: mailbox.id, teamId, addresses: [mailbox.email, rcptTo] },
    })
    if (applied.email === null) return
    const { id } = applied.email
    this.#deps.log.info({ event: 'smtp.bounce_delivered', emailId: id, mailboxId: mailbox.id }, applied.detail)
  }
}

/** Names under which providers send reports (RFC 3464 §2, RFC 6650 §4.2); no customer of theirs gets one. */
const REPORTER =
  /^(?:abuse|arf|complaints?|fbl|feedback(?:-?loop)?|mail(?:er)?-?daemon|microsoftexchange[0-9a-f]{32}|postmaster|staff|(?:no|do-?not)-?reply)(?:[+-].*)?$/i

/**
 * The domain that a report speaks for; null for none. Every customer of a provider is authenticated for its domain: a report speaks for it
 * only from a name of the provider itself. The null sender of a bounce (RFC 3464 §2) alone proves nothing: anyone can send a message that
 * a customer has written, with the signature of the provider, once more from there.
 */
function voucherOf({ sender, inspection: { report, verdict, message } }: ForWriter<Inspected>): string | null {
  if (!verdict.fromAligned) return null
  const name = message.from[0]?.email.replace(/@[^@]*$/, '') ?? ''
  if (!REPORTER.test(name) || (report?.kind === 'bounce' && sender.address !== '')) return null
  return verdict.fromDomain
}
