// Builds rows of the inbound log from a received message.

import type { EnvelopeSender } from '../smtp/envelope.ts'
import { line } from '../smtp/replies.ts'
import type { NewInboundRow } from '../store/log/inbound-log.ts'
import type { DeliveryResult } from '../store/mailbox/delivery.ts'
import { scriptEvidence } from '../store/mailbox/delivery-folders.ts'
import { forwardingEvidence, isForwardedOnly } from '../store/mailbox/forwarded.ts'
import type { LoggedMessage } from './received-message.ts'
import type { SmtpRefusal } from './refusals.ts'
import type { Peer } from './transaction.ts'

type Columns<K extends keyof NewInboundRow> = Pick<NewInboundRow, K>

/** The team whose log the row belongs to, and the recipient it is about. */
export type LoggedRecipient = Columns<'teamId' | 'mailboxId' | 'domain' | 'rcptTo'>

/** One row per recipient; a report has one row, in the log of the team that sent the reported message. */
export function loggedRecipients({ recipients, report }: LoggedMessage): LoggedRecipient[] {
  if (recipients.length === 0 && report?.email) {
    const { rcptTo, domain, email } = report
    return [{ teamId: email.teamId, mailboxId: email.mailboxId, domain, rcptTo }]
  }
  return recipients.map(({ teamId, mailbox, domain, rcptTo }) => ({ teamId, mailboxId: mailbox.id, domain, rcptTo }))
}

/** All columns but the outcome. @param index of the recipient */
export function baseRow(
  { sender, peer, sizeBytes, inspection, decision }: LoggedMessage,
  recipient: LoggedRecipient,
  now: number,
  index = 0,
): Omit<NewInboundRow, 'status' | 'detail' | 'smtpReply' | 'evidence'> {
  const verdict = inspection?.verdict
  return {
    ...senderColumns(sender, peer),
    ...recipient,
    reason: null,
    headerFrom: inspection?.message.from[0]?.email ?? null,
    subject: inspection?.message.subject ?? null,
    sizeBytes: sizeBytes ?? null,
    authentication: verdict ? { spf: verdict.spf, dkim: verdict.dkim, dmarc: verdict.dmarc, arc: verdict.arc } : null,
    spamScore: decision?.verdicts[index]?.spam.score ?? null,
    messageId: null,
    createdAt: now,
  }
}

export function senderColumns(
  sender: EnvelopeSender,
  peer: Peer,
): Columns<'mailFrom' | 'remoteAddress' | 'remoteName' | 'helo' | 'tls'> {
  return {
    mailFrom: sender.address,
    remoteAddress: peer.address,
    remoteName: typeof peer.name === 'object' ? peer.name.name : null,
    helo: peer.helo,
    tls: peer.tls,
  }
}

export function refusedStatus({ reply, reason }: SmtpRefusal): Columns<'status' | 'reason' | 'detail' | 'smtpReply'> {
  return { status: reply.code < 500 ? 'deferred' : 'refused', reason, detail: reply.text, smtpReply: line(reply) }
}

/** Status of an accepted copy, and the reason when it is in Junk. */
export function deliveredStatus(
  { decision }: LoggedMessage,
  recipient: number,
  copy: DeliveryResult,
): Columns<'status' | 'reason'> {
  if (isForwardedOnly(copy)) return { status: 'forwarded', reason: null }
  if (copy.outcome === 'duplicate' || copy.outcome === 'discarded') return { status: copy.outcome, reason: null }
  if (!copy.junk) return { status: 'stored', reason: null }
  // A Sieve script can file a message in Junk that was not classified as spam.
  return { status: 'junk', reason: decision?.verdicts[recipient]?.junk ? 'spam' : null }
}

/**
 * docs/design/receiving.md §2: DNS queries with their answers, signatures, how the address was resolved, the matched filter rule, spam points, thread and script.
 * @param recipient index of the recipient
 */
export function evidenceOf(
  { inspection, decision, recipients }: LoggedMessage,
  recipient: number,
  copy: DeliveryResult | null,
): Record<string, unknown> {
  if (!inspection) return {}
  const { verdict } = inspection
  return {
    dns: verdict.dns,
    spf: { result: verdict.spf, domain: verdict.spfDomain, reason: verdict.spfReason },
    signatures: verdict.signatures,
    dmarc: {
      result: verdict.dmarc,
      policy: verdict.dmarcPolicy,
      domain: verdict.fromDomain,
      reason: verdict.dmarcReason,
    },
    arc: { result: verdict.arc, domain: verdict.arcDomain },
    address: recipients[recipient]?.step ?? null,
    filter: decision?.filters[recipient] ?? null,
    spam: decision?.verdicts[recipient]?.spam.parts ?? [],
    thread: copy?.threadId ? { id: copy.threadId, by: copy.threadBy, ref: copy.threadRef } : null,
    forwarding: copy && forwardingEvidence(copy.forwarding),
    script: copy ? scriptEvidence(copy, inspection.scriptOutcomes[recipient] ?? null) : null,
  }
}
