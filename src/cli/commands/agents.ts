// `mailstead agent …`: lists, limits and revokes registered agents, and turns registration on or off.

import { AGENT_STATES, presentAgent } from '../../api/schemas/operator-agent.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import { choiceOption, oneOf } from '../frame/choice.ts'
import type { Command } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { readTime } from '../frame/time.ts'

const REGISTRATION_ID = new RegExp(idPattern('agentRegistration'))

export const agentList: Command = {
  words: 'agent list',
  summary: 'List registered agents, newest first.',
  options: {
    state: choiceOption('state', AGENT_STATES),
    since: { value: 'time', says: 'only those that registered at this time or later' },
    ...LIMIT_OPTION,
  },
  async run(call) {
    const state = oneOf('state', call.text('state'), AGENT_STATES)
    const createdAfter = readTime(call.text('since'))
    const limit = readLimit(call)
    const app = await call.open()
    const page = app.agents.registrations.list({ state, createdAfter, limit, after: null })
    const rows = page.items.map((one) => presentAgent(app, one))
    return listOutput(rows, page.next !== null, {
      none: 'No agent has registered.',
      head: ['Agent', 'Inbox', 'State', 'Registered'],
      cells: (row) => [row.id, row.email, row.state, row.created_at],
    })
  },
}

export const agentLimit: Command = {
  words: 'agent limit',
  summary: 'Set how many recipients an agent may send to; without options, the limits of the settings apply again.',
  operands: ['agent (areg_…)'],
  options: {
    hourly: { value: 'number', says: 'recipients per hour' },
    daily: { value: 'number', says: 'recipients per day' },
  },
  async run(call) {
    const id = checkId(call.operands[0]!)
    const limits = { hourly: readCount('hourly', call.text('hourly')), daily: readCount('daily', call.text('daily')) }
    const app = await call.open()
    await app.db.write((tx) => app.agents.ownership.setSendLimits(tx, id, limits))
    const agent = presentAgent(app, app.agents.registrations.byId(app.db.read, id)!)
    const { recipients_per_hour: hour, recipients_per_day: day } = agent
    return { data: agent, lines: [`Agent ${id} may send to ${hour} recipients per hour and ${day} per day.`] }
  },
}

export const agentRevoke: Command = {
  words: 'agent revoke',
  summary: 'Revoke an agent: its tokens, its invitations and its inbox.',
  operands: ['agent (areg_…)'],
  async run(call) {
    const id = checkId(call.operands[0]!)
    const { agents, db } = await call.open()
    await db.write((tx) => agents.ownership.revoke(tx, id))
    return { data: { id, state: 'revoked' }, lines: [`Agent ${id} is revoked.`] }
  },
}

export const agentRevokeAll: Command = {
  words: 'agent revoke-all',
  summary: 'Revoke every agent that registered since a given time.',
  options: {
    since: { value: 'time', says: 'such as 2030-01-02 or 2030-01-02T03:04:05Z; required' },
    'dry-run': { says: 'count them without revoking' },
  },
  async run(call) {
    const since = readTime(call.text('since'))
    if (since === undefined)
      throw new ProductError('missing_parameter', '--since is missing. Give a time such as 2030-01-02.')
    const { agents } = await call.open()
    const dryRun = call.has('dry-run')
    const revoked = await agents.ownership.revokeAll(since, dryRun)
    const verb = dryRun ? 'would be revoked' : 'revoked'
    return { data: { revoked, dry_run: dryRun }, lines: [`${revoked} ${revoked === 1 ? 'agent' : 'agents'} ${verb}.`] }
  },
}

export const agentRegistration: Command = {
  words: 'agent registration',
  summary: 'Turn the registration of agents on or off.',
  operands: ['on|off'],
  async run(call) {
    const wanted = call.operands[0]!
    if (wanted !== 'on' && wanted !== 'off')
      throw new ProductError('invalid_parameter', `${wanted} is not a valid value. Use on or off.`)
    const { agents } = await call.open()
    await agents.switches.setOpen(wanted === 'on')
    const enabled = agents.switches.isOpen()
    const shut = wanted === 'on' && !enabled ? ' The setting AGENT_REGISTRATION=off overrides this.' : ''
    return { data: { enabled }, lines: [`Agents ${enabled ? 'may' : 'may not'} register.${shut}`] }
  },
}

export const agentRotateKey: Command = {
  words: 'agent rotate-key',
  summary: 'Rotate the signing key of identity assertions; the previous key stays valid until the next rotation.',
  async run(call) {
    const { agents } = await call.open()
    const kid = await agents.assertions.rotate()
    return { data: { kid }, lines: [`Assertions are signed with the key ${kid} from now on.`] }
  },
}

function checkId(id: string): string {
  if (!REGISTRATION_ID.test(id))
    throw new ProductError('invalid_parameter', `${id} is not the id of an agent (areg_…).`)
  return id
}

/** Null where the option is left out. */
function readCount(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  if (!/^\d{1,9}$/.test(text)) throw new ProductError('invalid_parameter', `--${name} must be a whole number.`)
  return Number(text)
}
