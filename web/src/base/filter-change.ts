// What has to change in a sender filter so that it accepts a sender.

import { matchesPattern } from './sender-pattern.ts'

interface Rule {
  type: 'allow' | 'deny'
  pattern: string
}

interface Filter {
  mode: 'off' | 'allowlist' | 'denylist'
  rules: Rule[]
}

export interface FilterChange {
  /** The filter after it. */
  filter: Filter
  /** The pattern that is added; null when one that is there already suffices. */
  added: string | null
  /** Patterns of deny rules that are taken out: in an allowlist they win over allow rules. */
  removed: string[]
}

/** What has to change so that messages of a proven sender are not filed to Junk: a rule that allows it, in a filter that is on. */
export function acceptFor(filter: Filter, pattern: string, from: string): FilterChange | null {
  const isAllowed = filter.rules.some((rule) => rule.type === 'allow' && matchesPattern(rule.pattern, from))
  if (isAllowed && filter.mode !== 'off') return null
  // A deny list without deny rules refuses no message. Rules of a filter that was off would refuse again.
  const rules = filter.mode === 'off' ? filter.rules.filter(({ type }) => type === 'allow') : filter.rules
  const added = isAllowed ? null : pattern
  return {
    filter: {
      mode: filter.mode === 'off' ? 'denylist' : filter.mode,
      rules: added === null ? rules : [...rules, { type: 'allow', pattern: added }],
    },
    added,
    removed: [],
  }
}

/**
 * @param pattern the address or `@domain` that is allowed
 * @param senders addresses of the message that deny rules are compared with: From and the envelope sender
 * @returns null when the filter accepts the sender as it is
 */
export function changeFor(filter: Filter, pattern: string, senders: readonly string[]): FilterChange | null {
  const [from] = senders
  if (filter.mode === 'off' || from === undefined) return null
  const denied = filter.rules.filter(
    ({ type, pattern: one }) => type === 'deny' && senders.some((sender) => matchesPattern(one, sender)),
  )
  const isAllowed = filter.rules.some((rule) => rule.type === 'allow' && matchesPattern(rule.pattern, from))
  if (filter.mode === 'denylist' && (isAllowed || denied.length === 0)) return null
  const removed = filter.mode === 'allowlist' ? denied : []
  if (isAllowed && removed.length === 0) return null
  const kept = filter.rules.filter((rule) => !removed.includes(rule))
  const added = isAllowed ? null : pattern
  return {
    filter: { ...filter, rules: added === null ? kept : [...kept, { type: 'allow', pattern: added }] },
    added,
    removed: removed.map(({ pattern: one }) => one),
  }
}
