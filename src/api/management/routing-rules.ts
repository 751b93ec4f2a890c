// The routing rules of a team.

import { route } from '../../http/route.ts'
import type { RoutingRule } from '../../outbound/providers/routing-rules.ts'
import { presentRules, RoutingRulesInput, RoutingRulesJson, readRule } from '../schemas/routing-rules.ts'

const getRules = route({
  method: 'GET',
  path: '/routing-rules',
  docs: {
    operation: 'getRoutingRules',
    tag: 'Routing rules',
    summary: 'Get which way messages to some recipient domains leave',
    description: 'Messages to all other domains leave by the sending accounts of the sender, or straight.',
  },
  access: { as: 'team', permission: 'provider.read' },
  reply: { schema: RoutingRulesJson, etag: true },
  handle: ({ principal, app }) => presentRules(app.outbound.accounts.rules.list(principal.teamId)),
})

const replaceRules = route({
  method: 'PUT',
  path: '/routing-rules',
  docs: {
    operation: 'replaceRoutingRules',
    tag: 'Routing rules',
    summary: 'Replace the routing rules of the team',
    description:
      'Queued messages follow the new rules with their next attempt. A rule chooses among the ways that the sender may use: where its ' +
      'account is paused, is outside the `send_scope` of the mailbox or may not send for the From address, the message takes the ordinary ' +
      'way, and its timeline says why. While the account of a rule does not work or its quota is full, messages wait. With the ETag of a ' +
      'GET in `If-Match`, the rules are replaced only if they have not changed since (409 otherwise).',
  },
  access: { as: 'team', permission: 'provider.update' },
  body: { schema: RoutingRulesInput },
  reply: { schema: RoutingRulesJson, etag: true },
  async handle({ body, principal, app, request }) {
    const check = (current: readonly RoutingRule[]) => request.matches(presentRules(current))
    return presentRules(await app.outbound.accounts.rules.put(principal.teamId, body.rules.map(readRule), check))
  },
})

export const routingRules = [getRules, replaceRules]
