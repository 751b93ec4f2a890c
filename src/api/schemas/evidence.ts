// The evidence for the outcome of a received message: DNS answers, signatures, the filter rule, spam tests, the thread.

import { type Static, Type } from 'typebox'
import { ADDRESS_STEPS } from '../../directory/mailboxes/receiver.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { AuthResult } from './auth-result.ts'
import { FilterRule } from './filter-state.ts'
import { record } from './record.ts'
import { presentSpamParts, SpamPart } from './spam.ts'

const DnsAnswer = record('DnsAnswer', 'A DNS query and its answer, in short.', {
  name: Type.String(),
  type: Type.String(),
  answer: Type.String(),
})

const SpfEvidence = record('SpfEvidence', 'The SPF check (RFC 7208).', {
  result: AuthResult,
  domain: Type.String(),
  reason: Type.String(),
})

const SignatureEvidence = record('SignatureEvidence', 'One DKIM signature (RFC 6376).', {
  domain: Type.String(),
  selector: Type.String(),
  algorithm: Type.String(),
  result: AuthResult,
  reason: Type.String(),
  aligned: Type.Boolean({ description: 'The signing domain is the domain of the From address, or aligned with it.' }),
})

const DmarcEvidence = record('DmarcEvidence', 'The DMARC check (RFC 7489).', {
  result: AuthResult,
  policy: Type.String({ description: 'none, quarantine or reject; "" when there is no record.' }),
  domain: Type.String({ description: 'Domain of the From address; "" when there is not exactly one.' }),
  reason: Type.String(),
})

const ArcEvidence = record('ArcEvidence', 'The ARC check (RFC 8617).', {
  result: AuthResult,
  domain: Type.String({ description: 'Domain of the newest ARC seal; "" when there is none.' }),
})

const FilterEvidence = record('FilterEvidence', 'The result of the sender filters.', {
  accept: Type.Boolean(),
  scope: Nullable(Words(['mailbox', 'domain'], 'The filter that decided; null when both are off.')),
  mode: Words(['off', 'allowlist', 'denylist']),
  rule: Nullable(FilterRule),
})

const ThreadEvidence = record('ThreadEvidence', 'The thread the message joined, and by which reference.', {
  id: Id('thread'),
  by: Words(['id', 'subject', 'new']),
  ref: Nullable(Type.String({ description: 'The Message-ID that matched.' })),
})

const ReportEvidence = record('ReportEvidence', 'The bounce or complaint in the message, about one the team sent.', {
  kind: Words(['bounce', 'complaint']),
  message_id: Id('email'),
  outcome: Type.String({ description: 'What the server did with it, in one sentence.' }),
})

const ScriptEvidence = record('ScriptEvidence', 'The result of the Sieve script of the mailbox.', {
  outcome: Words(
    ['filed', 'discarded', 'failed'],
    '`failed`: the script failed, and the message is stored as without it.',
  ),
  folder_ids: Type.Array(Id('folder'), { description: 'Folders the message was stored in.' }),
  error: Nullable(Type.String({ description: 'Why the script failed, one sentence.' })),
})

const ForwardingEvidence = record('ForwardingEvidence', 'To whom the message was forwarded.', {
  message_id: Nullable({ ...Id('email'), description: 'In the delivery log; null when nothing was sent.' }),
  to: Type.Array(Type.String()),
  refused: Type.Array(
    record('RefusedForward', 'An address that the message was not forwarded to.', {
      to: Type.String(),
      reason: Type.String({ description: 'One sentence.' }),
    }),
  ),
})

export const Evidence = record(
  'Evidence',
  'The evidence for the outcome. Checks that were not made are null, lists are then empty.',
  {
    dns: Type.Array(DnsAnswer),
    spf: Nullable(SpfEvidence),
    signatures: Type.Array(SignatureEvidence),
    dmarc: Nullable(DmarcEvidence),
    arc: Nullable(ArcEvidence),
    address: Nullable(Words(ADDRESS_STEPS, 'How the recipient address led to the mailbox; see `lookupDomainAddress`.')),
    filter: Nullable(FilterEvidence),
    spam: Type.Array(SpamPart),
    thread: Nullable(ThreadEvidence),
    script: Nullable(ScriptEvidence),
    forwarding: Nullable(ForwardingEvidence),
    report: Nullable(ReportEvidence),
    probes: Nullable(
      Type.Integer({
        description: 'In a summary row: the number of further unknown recipients in that minute.',
      }),
    ),
  },
)
export type Evidence = Static<typeof Evidence>

/** @param kept as the SMTP server stored it; members have the same names, and those without a value are missing */
export function presentEvidence(kept: Record<string, unknown>): Evidence {
  const { dns = [], spf = null, signatures = [], dmarc = null, arc = null } = kept as Partial<Evidence>
  const {
    address = null,
    filter = null,
    spam = [],
    thread = null,
    script = null,
    forwarding = null,
    report = null,
    probes = null,
  } = kept as Partial<Evidence>
  return {
    dns,
    spf,
    signatures,
    dmarc,
    arc,
    address,
    filter,
    spam: presentSpamParts(spam),
    thread,
    script,
    forwarding,
    report,
    probes,
  }
}
