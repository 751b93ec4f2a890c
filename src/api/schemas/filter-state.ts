// The sender filter of a domain or of a mailbox.

import { type Static, Type } from 'typebox'
import { PATTERN_MAX } from '../../directory/domains/filter-pattern.ts'
import { type FilterState as KeptFilter, RULES_MAX } from '../../directory/domains/filters.ts'
import { Words } from '../../http/schema.ts'
import { record } from './record.ts'

export const FilterRule = record('FilterRule', 'A rule of a sender filter.', {
  type: Words(['allow', 'deny'], 'Effect of a match.'),
  pattern: Type.String({
    minLength: 1,
    maxLength: PATTERN_MAX,
    description:
      '`user@example.com`; `@example.com`, `*@example.com` or `example.com` for exactly that domain; `*.example.com` for ' +
      'its sub-domains; one `*` inside a local part. A `+tag` of the sender counts only where the pattern has one.',
  }),
})

export const FilterStateJson = record(
  'FilterState',
  'A sender filter. `off` accepts every sender; `allowlist` accepts senders that match an allow rule and no deny rule; ' +
    '`denylist` rejects senders that match a deny rule and no allow rule. The filter of a mailbox is evaluated before that of ' +
    'its domain.',
  {
    mode: Words(
      ['off', 'allowlist', 'denylist'],
      'Which senders are accepted: all, those allowed, or those not denied.',
    ),
    rules: Type.Array(FilterRule, {
      maxItems: RULES_MAX,
      description: 'The order is kept, exact duplicates are removed. With mode `off` rules are kept but not used.',
    }),
  },
  { mode: 'denylist', rules: [{ type: 'deny', pattern: '@spam.example' }] },
)
export type FilterStateJson = Static<typeof FilterStateJson>

export function presentFilter(filter: KeptFilter): FilterStateJson {
  return { mode: filter.mode, rules: filter.rules.map(({ type, pattern }) => ({ type, pattern })) }
}
