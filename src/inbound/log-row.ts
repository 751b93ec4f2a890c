// What a row of the inbound log says of a mail, taken from what is known of it.

import type { Sender } from '../smtp/envelope.ts'
import { line } from '../smtp/replies.ts'
import type { Delivered } from '../store/deliver.ts'
import { scriptEvidence } from '../store/filing.ts'
import type { NewInboundRow } from '../store/inbound-log.ts'
import type { Passage } from './received-transaction.ts'
import type { Refusal } from './refusals.ts'
import type { Peer, Transaction } from './transaction.ts'

type Part<K extends keyof NewInboundRow> = Pick<NewInboundRow, K>

/** Whose log a row is for, and the recipient it tells of. */
export type Addressee = Part<'teamId' | 'mailboxId' | 'domain' | 'rcptTo'>

/** A mail has a row for each of its recipients; one for an address of reports has a row with the team that sent the mail. */
export function addressees({ recipients, report }: Transaction): Addressee[] {
  if (recipients.length === 0 && report?.email) {
    const { rcptTo, domain, email } = report
    return [{ teamId: email.teamId, mailboxId: email.mailboxId, domain, rcptTo }]
  }
  return recipients.map(({ teamId, mailbox, domain, rcptTo }) => ({ teamId, mailboxId: mailbox.id, domain, rcptTo }))
}

/** Everything but what became of it. */
export function base(
  { transaction, peer, sizeBytes, inspection, judgement }: Passage,
  addressee: Addressee,
  now: number,
): Omit<NewInboundRow, 'status' | 'detail' | 'smtpReply' | 'evidence'> {
  const verdict = inspection?.verdict
  return {
    ...whoSent(transaction.sender, peer),
    ...addressee,
    reason: null,
    headerFrom: inspection?.mail.from[0]?.email ?? null,
    subject: inspection?.mail.subject ?? null,
    sizeBytes,
    authentication: verdict ? { spf: verdict.spf, dkim: verdict.dkim, dmarc: verdict.dmarc, arc: verdict.arc } : null,
    spamScore: judgement?.spam.score ?? null,
    messageId: null,
    createdAt: now,
  }
}

export function whoSent(
  sender: Sender,
  peer: Peer,
): Part<'mailFrom' | 'remoteAddress' | 'remoteName' | 'helo' | 'tls'> {
  return {
    mailFrom: sender.address,
    remoteAddress: peer.address,
    remoteName: typeof peer.name === 'object' ? peer.name.name : null,
    helo: peer.helo,
    tls: peer.tls,
  }
}

export function refused({ reply, reason }: Refusal): Part<'status' | 'reason' | 'detail' | 'smtpReply'> {
  return { status: reply.code < 500 ? 'deferred' : 'refused', reason, detail: reply.text, smtpReply: line(reply) }
}

/** Where a copy that was taken lies, and what brought it to Junk. */
export function kept({ judgement }: Passage, copy: Delivered): Part<'status' | 'reason'> {
  if (copy.outcome === 'duplicate' || copy.outcome === 'discarded') return { status: copy.outcome, reason: null }
  if (!copy.junk) return { status: 'stored', reason: null }
  // A script may file there what nobody took for spam.
  return { status: 'junk', reason: judgement?.junk ? 'spam' : null }
}

/**
 * Decisions §6.4: what was asked of DNS and came back, each signature, the rule that matched, the points, the thread.
 * @param recipient its place among the recipients
 */
export function evidenceOf(
  { inspection, judgement }: Passage,
  recipient: number,
  copy: Delivered | null,
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
    filter: judgement?.filters[recipient] ?? null,
    spam: judgement?.spam.parts ?? [],
    thread: copy?.threadId ? { id: copy.threadId, by: copy.threadBy, ref: copy.threadRef } : null,
    script: copy ? scriptEvidence(copy, inspection.rulings[recipient] ?? null) : null,
  }
}
