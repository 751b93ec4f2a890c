// `mailstead team list`, `update`, `suspend`, `reactivate`: the teams of the appliance, as the operator sees and changes them.

import { type OperatorTeam, operatorTeam } from '../../api/schemas/operator-team.ts'
import { ProductError } from '../../base/errors.ts'
import type { TeamStatus } from '../../directory/keys/teams.ts'
import { oneOf } from '../frame/choice.ts'
import type { Call, Command, CommandResult } from '../frame/command.ts'
import { table } from '../frame/table.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const NO_LIMIT = 'none'

export const teamList: Command = {
  words: 'team list',
  summary: 'List all teams, oldest first.',
  async run(call) {
    const app = await call.open()
    const rows: OperatorTeam[] = []
    for (const team of app.directory.teams.list()) rows.push(operatorTeam(app, team))
    const cells = rows.map((row) => [row.id, row.status, sharedText(row), row.created_at, row.name])
    return {
      data: rows,
      lines:
        rows.length === 0
          ? ['There is no team yet. Create the first with mailstead setup.']
          : table([['Team', 'Status', 'Shared SES', 'Created', 'Name'], ...cells]),
    }
  },
}

export const teamUpdate: Command = {
  words: 'team update',
  summary: 'Rename a team, or change its limit on the shared Amazon SES account.',
  operands: ['team'],
  options: {
    name: { value: 'name', says: 'new name' },
    ses: { value: 'on|off', says: 'allow or forbid the shared account', words: ['on', 'off'] },
    'ses-limit': { value: 'number', says: `recipients a day through it; ${NO_LIMIT} for no limit` },
  },
  async run(call) {
    const name = call.text('name')
    const ses = oneOf('option --ses', call.text('ses'), ['on', 'off'])
    const limit = readShare(call.text('ses-limit'))
    if (name === undefined && ses === undefined && limit === undefined) {
      throw new ProductError('missing_parameter', 'Nothing to change. Give --name, --ses or --ses-limit.')
    }
    const app = await call.open()
    const { id } = chooseTeam(app.directory, call.operands[0])
    const team = await app.db.write((tx) => {
      if (ses !== undefined || limit !== undefined) {
        app.outbound.accounts.sharedLimit.setDailyIn(tx, id, { enabled: ses && ses === 'on', limit })
      }
      return app.directory.teams.changeIn(tx, id, { name })
    })
    const shown = operatorTeam(app, team)
    return { data: shown, lines: [`Team ${id} is called ${shown.name}; shared Amazon SES: ${sharedText(shown)}.`] }
  },
}

export const teamSuspend: Command = {
  words: 'team suspend',
  summary: 'Suspend a team: its keys are rejected; mail to it is deferred for 7 days and then rejected.',
  operands: ['team'],
  run: (call) => setStatus(call, 'suspended'),
}

export const teamReactivate: Command = {
  words: 'team reactivate',
  summary: 'Reactivate a suspended team.',
  operands: ['team'],
  run: (call) => setStatus(call, 'active'),
}

async function setStatus(call: Call, status: TeamStatus): Promise<CommandResult> {
  const app = await call.open()
  const { id } = chooseTeam(app.directory, call.operands[0])
  const team = await app.directory.teams.setStatus(id, status)
  return { data: operatorTeam(app, team), lines: [`Team ${id} (${team.name}) is ${status}.`] }
}

function readShare(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined
  if (text === NO_LIMIT) return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new ProductError('invalid_parameter', `The limit must be a whole number of recipients a day, or ${NO_LIMIT}.`)
}

function sharedText({ ses_enabled: enabled, ses_daily_limit: limit }: OperatorTeam): string {
  return enabled ? (limit === null ? 'no limit' : `${limit} a day`) : 'off'
}
