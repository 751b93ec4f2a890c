// `mailstead group list`, `show`, `create`, `update`, `delete`: delivery groups, several sending accounts under one name.

import { type DeliveryGroupJson, presentGroup } from '../../api/schemas/delivery-group.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import type { DeliveryGroup } from '../../outbound/providers/groups.ts'
import { choiceOption, oneOf } from '../frame/choice.ts'
import { type Call, type Command, type CommandOutput, TEAM_OPTION } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { checkId } from '../frame/options.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const GROUP_OPERAND = 'group (dgrp_…)'
const GROUP_ID = new RegExp(idPattern('deliveryGroup'))
const PROVIDER_ID = new RegExp(idPattern('provider'))
const STRATEGIES = ['weighted', 'round_robin', 'failover'] as const

const MEMBER_OPTIONS = {
  ...TEAM_OPTION,
  strategy: choiceOption('strategy', STRATEGIES),
  member: { value: 'account', says: 'a sending account (dprov_…), repeated in their order', many: true as const },
}

export const groupList: Command = {
  words: 'group list',
  summary: 'List the delivery groups of a team, newest first.',
  options: { ...TEAM_OPTION, ...LIMIT_OPTION },
  async run(call) {
    const limit = readLimit(call)
    const { directory, outbound } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const page = outbound.accounts.groups.list(team.id, { limit, after: null })
    return listOutput(page.items.map(presentGroup), page.next !== null, {
      none: 'There are no delivery groups. Add one with mailstead group create.',
      head: ['Group', 'Strategy', 'Accounts', 'Name'],
      cells: ({ id, strategy, members, name }) => [id, strategy, String(members.length), name],
    })
  },
}

export const groupShow: Command = {
  words: 'group show',
  summary: 'Show a delivery group with its accounts.',
  operands: [GROUP_OPERAND],
  options: TEAM_OPTION,
  async run(call) {
    const { group } = await chooseGroup(call)
    return outputOf(presentGroup(group))
  },
}

export const groupCreate: Command = {
  words: 'group create',
  summary: 'Put several sending accounts of a team under one name.',
  operands: ['name'],
  options: MEMBER_OPTIONS,
  examples: ['mailstead group create Newsletters --strategy failover --member dprov_… --member dprov_…'],
  async run(call) {
    const strategy = oneOf('strategy', call.text('strategy'), STRATEGIES) ?? 'weighted'
    const members = membersOf(call)
    if (members === undefined) throw new ProductError('missing_parameter', 'Name at least one account with --member.')
    const { directory, outbound } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const group = await outbound.accounts.groups.create(team.id, { name: call.operands[0]!, strategy, members })
    return outputOf(presentGroup(group))
  },
}

export const groupUpdate: Command = {
  words: 'group update',
  summary: 'Change a delivery group; its accounts are replaced by those that are named.',
  operands: [GROUP_OPERAND],
  options: { ...MEMBER_OPTIONS, name: { value: 'name', says: 'its new name' } },
  async run(call) {
    const strategy = oneOf('strategy', call.text('strategy'), STRATEGIES)
    const change = { name: call.text('name'), strategy, members: membersOf(call) }
    const { groups, group, teamId } = await chooseGroup(call)
    return outputOf(presentGroup(await groups.update(teamId, group.id, change)))
  },
}

export const groupDelete: Command = {
  words: 'group delete',
  summary: 'Delete a delivery group that no mailbox uses; its accounts stay.',
  operands: [GROUP_OPERAND],
  options: TEAM_OPTION,
  async run(call) {
    const { groups, group, teamId } = await chooseGroup(call)
    await groups.remove(teamId, group.id)
    return { data: { deleted: true, id: group.id }, lines: [`Deleted the delivery group ${group.name}.`] }
  },
}

/** @throws ProductError not_found */
async function chooseGroup(call: Call) {
  const id = checkId(call.operands[0]!, GROUP_ID, GROUP_OPERAND)
  const { directory, outbound } = await call.open()
  const team = chooseTeam(directory, call.text('team'))
  const { groups } = outbound.accounts
  const group: DeliveryGroup | undefined = groups.get(team.id, id)
  if (group === undefined) throw new ProductError('not_found', `Team ${team.name} has no delivery group ${id}.`)
  return { groups, group, teamId: team.id }
}

/** Undefined when none was named. */
function membersOf(call: Call) {
  const ids = call.all('member').map((text) => checkId(text, PROVIDER_ID, 'account (dprov_…)'))
  return ids.length === 0 ? undefined : ids.map((providerId) => ({ providerId }))
}

function outputOf(data: DeliveryGroupJson): CommandOutput {
  const rows = data.members.map(({ provider_id: id, position, weight }) => [
    `  ${id}`,
    `position ${position}`,
    weight === null ? '' : `weight ${weight}`,
  ])
  return { data, lines: [`${data.id}  ${data.strategy}  ${data.name}`, ...table(rows)] }
}
