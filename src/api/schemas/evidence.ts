// What an outcome of receiving rests on: answers of DNS, signatures, the filter rule, points, the thread.

import { type Static, Type } from 'typebox'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { AuthResult } from './auth-result.ts'
import { FilterRule } from './filter-state.ts'
import { record } from './record.ts'

const DnsAnswer = record('DnsAnswer', 'One question asked of DNS and its answer, in short.', {
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
  aligned: Type.Boolean({ description: 'Its domain is that of the From address, or belongs to it.' }),
})

const DmarcEvidence = record('DmarcEvidence', 'The DMARC check (RFC 7489).', {
  result: AuthResult,
  policy: Type.String({ description: 'none, quarantine or reject; "" when there is no record.' }),
  domain: Type.String({ description: 'Domain of the From address; "" when there is not exactly one.' }),
  reason: Type.String(),
})

const ArcEvidence = record('ArcEvidence', 'The ARC check (RFC 8617).', {
  result: AuthResult,
  domain: Type.String({ description: 'Who set the newest seal; "" when there is none.' }),
})

const FilterEvidence = record('FilterEvidence', 'What the sender filters said.', {
  accept: Type.Boolean(),
  scope: Nullable(Words(['mailbox', 'domain'], 'Whose filter decided; null when both are off.')),
  mode: Words(['off', 'allowlist', 'denylist']),
  rule: Nullable(FilterRule),
})

const SpamPart = record('SpamPart', 'One thing that speaks for spam, or against it.', {
  reason: Type.String(),
  points: Type.Number(),
})

const ThreadEvidence = record('ThreadEvidence', 'The thread the message joined, and by what.', {
  id: Id('thread'),
  by: Words(['id', 'subject', 'new']),
  ref: Nullable(Type.String({ description: 'The Message-ID that led there.' })),
})

const ReportEvidence = record('ReportEvidence', 'What the mail told of one that the team had sent.', {
  kind: Words(['bounce', 'complaint']),
  message_id: Id('email'),
  outcome: Type.String({ description: 'What came of it, in one sentence.' }),
})

const ScriptEvidence = record('ScriptEvidence', 'What the script of the mailbox made of the mail.', {
  outcome: Words(
    ['filed', 'discarded', 'failed'],
    '`failed`: the script was given up, and the mail lies where it would without it.',
  ),
  folder_ids: Type.Array(Id('folder'), { description: 'Where it came to lie.' }),
  error: Nullable(Type.String({ description: 'Why the script was given up, one sentence.' })),
})

export const Evidence = record(
  'Evidence',
  'What the outcome rests on. Checks that were not made are null, lists are then empty.',
  {
    dns: Type.Array(DnsAnswer),
    spf: Nullable(SpfEvidence),
    signatures: Type.Array(SignatureEvidence),
    dmarc: Nullable(DmarcEvidence),
    arc: Nullable(ArcEvidence),
    filter: Nullable(FilterEvidence),
    spam: Type.Array(SpamPart),
    thread: Nullable(ThreadEvidence),
    script: Nullable(ScriptEvidence),
    report: Nullable(ReportEvidence),
    probes: Nullable(
      Type.Integer({
        description: 'In a row that counts: how many more unknown recipients were tried in that minute.',
      }),
    ),
  },
)
export type Evidence = Static<typeof Evidence>

/** @param kept as the door wrote it down; its members are named alike, and those it had nothing for are missing */
export function presentEvidence(kept: Record<string, unknown>): Evidence {
  const { dns = [], spf = null, signatures = [], dmarc = null, arc = null } = kept as Partial<Evidence>
  const {
    filter = null,
    spam = [],
    thread = null,
    script = null,
    report = null,
    probes = null,
  } = kept as Partial<Evidence>
  return { dns, spf, signatures, dmarc, arc, filter, spam, thread, script, report, probes }
}
