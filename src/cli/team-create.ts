// `mailstead team create`: makes a team.

import { ProductError } from '../base/errors.ts'
import type { Command } from './command.ts'
import { presentTeam } from './present-team.ts'

export const teamCreate: Command = {
  words: 'team create',
  summary: 'Makes a team.',
  options: { name: { value: 'name', says: 'what the team is called (needed)' } },
  async run(call) {
    const name = call.text('name')
    if (name === undefined) throw new ProductError('missing_parameter', 'Say how the team is called with --name.')
    const { directory } = await call.open()
    const team = await directory.teams.create({ name })
    return {
      data: presentTeam(team),
      lines: [`Team ${team.id} (${team.name}) is made.`, `A key for it: mailstead key create --team ${team.id}`],
    }
  },
}
