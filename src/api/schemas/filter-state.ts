// The sender filter of a domain or of a mailbox.

import { type Static, Type } from 'typebox'
import { PATTERN_MAX } from '../../directory/filter-pattern.ts'
import { type FilterState as KeptFilter, RULES_MAX } from '../../directory/filters.ts'
import { Words } from '../../http/schema.ts'
import { record } from './record.ts'

export const FilterRule = record('FilterRule', 'One line of a sender filter.', {
  type: Words(['allow', 'deny'], 'What a match means.'),
  pattern: Type.String({
    minLength: 1,
    maxLength: PATTERN_MAX,
    description:
      '`user@example.com`; `@example.com`, `*@example.com` or `example.com` for exactly that domain; `*.example.com` for ' +
      'its sub-domains; one `*` inside a local part. A `+tag` of the sender counts only where the pattern has one.',
  }),
})

export const FilterState = record(
  'FilterState',
  'A sender filter. `off` accepts everyone; `allowlist` accepts senders an allow rule matches and no deny rule does; ' +
    '`denylist` refuses senders a deny rule matches and no allow rule does. The filter of a mailbox comes before that of ' +
    'its domain.',
  {
    mode: Words(
      ['off', 'allowlist', 'denylist'],
      'Whom the filter lets in: everyone, those allowed, those not denied.',
    ),
    rules: Type.Array(FilterRule, {
      maxItems: RULES_MAX,
      description: 'Order is kept, exact duplicates are taken out. With mode `off` rules are kept but not used.',
    }),
  },
  { mode: 'denylist', rules: [{ type: 'deny', pattern: '@spam.example' }] },
)
export type FilterState = Static<typeof FilterState>

export function presentFilter(filter: KeptFilter): FilterState {
  return { mode: filter.mode, rules: filter.rules.map(({ type, pattern }) => ({ type, pattern })) }
}
