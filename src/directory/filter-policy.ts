// Sender filters of one recipient: which ones hold, and what they say of a mail.

import type { AuthVerdict, ParsedMail } from '../mime/message.ts'
import { matchRule } from './filter-pattern.ts'
import { type FilterDecision, type FilterState, type Filters, judgeFilters } from './filters.ts'

/** The filters that hold for one recipient. */
export interface FilterPolicy {
  mailboxFilter: FilterState
  domainFilter: FilterState
}

/** @param recipient a mailbox and its domain, by their ids */
export async function policyOf(
  filters: Filters,
  recipient: { mailboxId: string; domainId: string },
): Promise<FilterPolicy> {
  const [mailboxFilter, domainFilter] = await Promise.all([
    filters.get(recipient.mailboxId),
    filters.get(recipient.domainId),
  ])
  return { mailboxFilter, domainFilter }
}

/** Equal texts mean equal verdicts on every mail. */
export function policyKey({ mailboxFilter, domainFilter }: FilterPolicy): string {
  const used = [mailboxFilter, domainFilter].map((filter) => (filter.mode === 'off' ? null : filter))
  return JSON.stringify(used)
}

/**
 * What can be said before the mail itself is there: a rule that denies the envelope sender and that no From field can
 * overrule (decisions §4.5).
 * @returns null when the mail has to be seen
 */
export function judgeEnvelope(policy: FilterPolicy, envelopeFrom: string): FilterDecision | null {
  const { mailboxFilter, domainFilter } = policy
  const scope = mailboxFilter.mode !== 'off' ? 'mailbox' : 'domain'
  const filter = scope === 'mailbox' ? mailboxFilter : domainFilter
  if (filter.mode === 'off' || envelopeFrom === '') return null
  const rule = filter.rules.find(({ type, pattern }) => type === 'deny' && matchRule(pattern, envelopeFrom))
  if (!rule) return null
  // In a denylist a rule that allows the From address wins; in an allowlist a rule that denies does.
  if (filter.mode === 'denylist' && filter.rules.some(({ type }) => type === 'allow')) return null
  return { accept: false, scope, mode: filter.mode, rule }
}

/** What the filters say of a whole mail. Bounces are judged like any other mail, by their From field alone. */
export function judgeMail(
  policy: FilterPolicy,
  envelopeFrom: string,
  mail: ParsedMail,
  verdict: AuthVerdict,
): FilterDecision {
  return judgeFilters({
    ...policy,
    headerFrom: mail.from.map(({ email }) => email),
    envelopeFrom,
    // A look-alike never passes as allowed, and neither does a message whose author is not clear.
    dmarcFailed: verdict.dmarc === 'fail' || verdict.dmarc === 'permerror' || Boolean(verdict.authorProblem),
  })
}
