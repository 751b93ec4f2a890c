// Builds the inbound log rows for local deliveries, so that recipients find these messages in the inbound log, too.

import type { FilterDecision } from '../../../directory/domains/filters.ts'
import type { SieveOutcome } from '../../../sieve/outcome.ts'
import type { NewInboundRow } from '../../../store/log/inbound-log.ts'
import type { DeliveryResult, IncomingMessage } from '../../../store/mailbox/delivery.ts'
import { scriptEvidence } from '../../../store/mailbox/delivery-folders.ts'
import { forwardingEvidence, isForwardedOnly } from '../../../store/mailbox/forwarded.ts'
import type { LocalRecipient } from './recipients.ts'

/** One recipient and the stored copy; null if the recipient was refused. */
export interface RecipientResult {
  recipient: LocalRecipient
  copy: DeliveryResult | null
  filter: FilterDecision | null
  /** Outcome of the mailbox's Sieve script; null without a script. */
  scriptOutcome: SieveOutcome | null
}

/** @param now ms @returns null when no team owns the domain */
export function logRow(
  message: IncomingMessage,
  { recipient, copy, filter, scriptOutcome }: RecipientResult,
  now: number,
): NewInboundRow | null {
  const { rcptTo, domain, teamId, mailbox, refusal } = recipient
  if (teamId === null) return null
  const { inspection, mailFrom } = message
  const { spf, dkim, dmarc, arc } = inspection.verdict
  const thread = copy?.threadId ? { id: copy.threadId, by: copy.threadBy, ref: copy.threadRef } : null
  return {
    teamId,
    mailboxId: mailbox?.id ?? null,
    domain,
    status: statusOf(refusal, copy),
    reason: refusal?.reason ?? null,
    detail:
      refusal?.verdict.reply.text ??
      `${copy?.outcome === 'discarded' ? 'Taken' : 'Stored'}; it was sent from this appliance.`,
    // There was no SMTP session: no reply and no remote host.
    smtpReply: '',
    remoteAddress: '',
    remoteName: null,
    helo: '',
    tls: null,
    mailFrom,
    rcptTo,
    headerFrom: inspection.message.from[0]?.email ?? null,
    subject: inspection.message.subject,
    sizeBytes: inspection.sizeBytes,
    authentication: { spf, dkim, dmarc, arc },
    spamScore: 0,
    messageId: copy?.messageId ?? null,
    evidence: {
      address: recipient.reach?.step ?? null,
      filter,
      thread,
      forwarding: copy && forwardingEvidence(copy.forwarding),
      script: copy && scriptEvidence(copy, scriptOutcome),
    },
    createdAt: now,
  }
}

function statusOf(refusal: LocalRecipient['refusal'], copy: DeliveryResult | null): NewInboundRow['status'] {
  if (refusal !== null) return refusal.verdict.kind === 'never' ? 'refused' : 'deferred'
  if (copy !== null && isForwardedOnly(copy)) return 'forwarded'
  if (copy?.outcome === 'duplicate' || copy?.outcome === 'discarded') return copy.outcome
  return copy?.junk ? 'junk' : 'stored'
}
