// The routing rules of a team: which way messages to some recipient domains leave.

import { type Static, Type } from 'typebox'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { type RoutingRule, RULE_MATCHES, RULE_ROUTES, RULES_MAX } from '../../outbound/providers/routing-rules.ts'
import { record } from './record.ts'

const PROVIDER_ID = 'dprov_m1n2b3v4c5x6z7l8k9j0h1g2'

const Domain = Type.String({
  minLength: 3,
  maxLength: 255,
  description:
    'Lower case in answers. With `domain` that of the address, such as `outlook.com`, or `*.example.com` for all names below it; with ' +
    '`operator` the registered domain of the mail servers, such as `outlook.com` for everything that Microsoft receives.',
})
const Match = Words(
  [...RULE_MATCHES],
  "`domain`: the domain of the recipient's address. `operator`: who runs its preferred mail server, by MX record.",
)
const Via = Words(
  [...RULE_ROUTES],
  '`provider`: one sending account; `group`: a delivery group; `direct`: straight to the mail server of the recipient.',
)

const RoutingRuleJson = record(
  'RoutingRule',
  'Which way messages to a recipient domain leave.',
  {
    match: Match,
    domain: Domain,
    via: Via,
    provider_id: Nullable(Id('provider')),
    group_id: Nullable(Id('deliveryGroup')),
  },
  { match: 'operator', domain: 'outlook.com', via: 'provider', provider_id: PROVIDER_ID, group_id: null },
)
export type RoutingRuleJson = Static<typeof RoutingRuleJson>

export const RoutingRulesJson = record(
  'RoutingRules',
  'The routing rules of a team.',
  {
    rules: Type.Array(RoutingRuleJson, {
      maxItems: RULES_MAX,
      description: 'At most one matches: the domain itself, else the longest `*.` above it, else the operator.',
    }),
  },
  {
    rules: [{ match: 'operator', domain: 'outlook.com', via: 'provider', provider_id: PROVIDER_ID, group_id: null }],
  },
)

const RoutingRuleInput = record(
  'RoutingRuleInput',
  'A rule; it names the account or the group that `via` says, and nothing else.',
  {
    match: Match,
    domain: Domain,
    via: Via,
    provider_id: Type.Optional(Nullable(Id('provider'))),
    group_id: Type.Optional(Nullable(Id('deliveryGroup'))),
  },
  { match: 'domain', domain: 'outlook.com', via: 'provider', provider_id: PROVIDER_ID },
)

export const RoutingRulesInput = record(
  'RoutingRulesInput',
  'All rules, in place of the present ones.',
  {
    rules: Type.Array(RoutingRuleInput, {
      maxItems: RULES_MAX,
      description: 'One for a domain or operator, in any order.',
    }),
  },
  { rules: [{ match: 'domain', domain: 'outlook.com', via: 'direct' }] },
)

export function presentRules(rules: readonly RoutingRule[]): Static<typeof RoutingRulesJson> {
  return {
    rules: rules.map(({ targetId, via, ...rule }) => ({
      ...rule,
      via,
      provider_id: via === 'provider' ? targetId : null,
      group_id: via === 'group' ? targetId : null,
    })),
  }
}

export function readRule({ match, domain, via, provider_id, group_id }: Static<typeof RoutingRuleInput>): RoutingRule {
  const targetId = via === 'provider' ? provider_id : via === 'group' ? group_id : null
  return { match, domain, via, targetId: targetId ?? null }
}
