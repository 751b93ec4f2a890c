// `mailstead route list`, `route set`, `route remove`: which way messages to some recipient domains leave.

import { presentRules } from '../../api/schemas/routing-rules.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import type { Context } from '../../context.ts'
import { domainName } from '../../directory/names/domain-name.ts'
import type { RoutingRule, RuleMatch } from '../../outbound/providers/routing-rules.ts'
import { type Call, type Command, type CommandOutput, TEAM_OPTION } from '../frame/command.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const PROVIDER_ID = new RegExp(idPattern('provider'))
const GROUP_ID = new RegExp(idPattern('deliveryGroup'))
const OPTIONS = {
  ...TEAM_OPTION,
  operator: { says: 'for all domains whose mail servers are at that domain, such as outlook.com' },
}

export const routeList: Command = {
  words: 'route list',
  summary: 'List the routing rules of a team: recipient domains whose messages leave another way.',
  options: TEAM_OPTION,
  async run(call) {
    const { app, teamId } = await open(call)
    return outputOf(app, teamId, app.outbound.accounts.rules.list(teamId))
  },
}

export const routeSet: Command = {
  words: 'route set',
  summary: 'Lead messages to a recipient domain through a sending account, a group, or straight to its mail server.',
  operands: ['domain', 'way (dprov_…, dgrp_… or direct)'],
  options: OPTIONS,
  examples: ['mailstead route set outlook.com dprov_… --operator'],
  async run(call) {
    const [domain, target] = [call.operands[0]!, call.operands[1]!]
    const rule: RoutingRule = { match: matchOf(call), domain, ...targetOf(target) }
    const { app, teamId } = await open(call)
    return replace(app, teamId, (rules) => [...rules.filter((other) => !isSame(other, rule)), rule])
  },
}

export const routeRemove: Command = {
  words: 'route remove',
  summary: 'Remove the routing rule for a recipient domain.',
  operands: ['domain'],
  options: OPTIONS,
  async run(call) {
    const rule = { match: matchOf(call), domain: call.operands[0]! }
    const { app, teamId } = await open(call)
    return replace(app, teamId, (rules) => {
      const left = rules.filter((other) => !isSame(other, rule))
      if (left.length < rules.length) return left
      throw new ProductError('not_found', `There is no such routing rule for ${rule.domain}.`)
    })
  },
}

async function open(call: Call) {
  const app = await call.open()
  return { app, teamId: chooseTeam(app.directory, call.text('team')).id }
}

async function replace(app: Context, teamId: string, change: (rules: readonly RoutingRule[]) => RoutingRule[]) {
  const { rules } = app.outbound.accounts
  return outputOf(app, teamId, await rules.put(teamId, change(rules.list(teamId))))
}

function matchOf(call: Call): RuleMatch {
  return call.has('operator') ? 'operator' : 'domain'
}

function isSame(rule: RoutingRule, { match, domain }: Pick<RoutingRule, 'match' | 'domain'>): boolean {
  const name = domain.startsWith('*.') ? `*.${domainName(domain.slice(2))}` : domainName(domain)
  return rule.match === match && rule.domain === name
}

/** @throws ProductError invalid_parameter */
function targetOf(text: string): Pick<RoutingRule, 'via' | 'targetId'> {
  if (text === 'direct') return { via: 'direct', targetId: null }
  if (PROVIDER_ID.test(text)) return { via: 'provider', targetId: text }
  if (GROUP_ID.test(text)) return { via: 'group', targetId: text }
  throw new ProductError(
    'invalid_parameter',
    `The way is an account (dprov_…), a group (dgrp_…) or direct, not ${text}.`,
  )
}

function outputOf({ outbound }: Context, teamId: string, rules: readonly RoutingRule[]): CommandOutput {
  const { providers, groups } = outbound.accounts
  const nameOf = ({ via, targetId }: RoutingRule) => {
    if (via === 'direct') return 'straight to the mail server of the recipient'
    return (via === 'group' ? groups.get(teamId, targetId!) : providers.get(teamId, targetId!))?.name ?? targetId!
  }
  const rows = rules.map((rule) => [
    rule.match === 'operator' ? `mail servers of ${rule.domain}` : rule.domain,
    rule.targetId ?? 'direct',
    nameOf(rule),
  ])
  const none = 'No rules: messages to all domains leave the same way.'
  return {
    data: presentRules(rules),
    lines: rows.length === 0 ? [none] : table([['Messages to', 'Leave by', 'Name'], ...rows]),
  }
}
