// The sender filters that apply to one recipient, and their decision on an envelope or a message.

import type { AuthVerdict, ParsedMessage } from '../../mime/message.ts'
import { matchRule } from './filter-pattern.ts'
import { evaluateFilters, type FilterDecision, type FilterState, type Filters } from './filters.ts'

/** The filters that apply to one recipient. */
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

/** A key for grouping: equal keys decide equally on every message. */
export function policyKey({ mailboxFilter, domainFilter }: FilterPolicy): string {
  const used = [mailboxFilter, domainFilter].map((filter) => (filter.mode === 'off' ? null : filter))
  return JSON.stringify(used)
}

/**
 * Decides before DATA when a rule denies the envelope sender and no From header can override it (docs/design/directory.md §5.5).
 * @returns null when the decision needs the message
 */
export function evaluateEnvelope(policy: FilterPolicy, envelopeFrom: string): FilterDecision | null {
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

/** Decides on a received message. Bounces are evaluated by their From header alone. */
export function evaluateMessage(
  policy: FilterPolicy,
  envelopeFrom: string,
  message: ParsedMessage,
  verdict: AuthVerdict,
): FilterDecision {
  return evaluateFilters({
    ...policy,
    headerFrom: message.from.map(({ email }) => email),
    envelopeFrom,
    // A spoofed From never matches an allow rule, and neither does a message with an ambiguous author.
    dmarcFailed: verdict.dmarc === 'fail' || verdict.dmarc === 'permerror' || Boolean(verdict.authorProblem),
  })
}
