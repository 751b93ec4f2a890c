// `mailstead team create`: makes a team, and invites its owner when asked.

import { ProductError } from '../../base/errors.ts'
import { newTeam } from '../../people/new-team.ts'
import type { Command } from '../frame/command.ts'
import { presentTeam } from '../frame/present-team.ts'
import { shellWord } from '../frame/shell-word.ts'

export const teamCreate: Command = {
  words: 'team create',
  summary: 'Create a team and optionally invite its owner by mail.',
  options: {
    name: { value: 'name', says: 'name of the team (required)' },
    owner: { value: 'email', says: 'address of the owner to invite; without mail, use member add and login-link' },
  },
  async run(call) {
    const name = call.text('name')
    if (name === undefined) throw new ProductError('missing_parameter', '--name is missing. Give the name of the team.')
    const owner = call.text('owner')
    const app = await call.open()
    const team = await newTeam(app, { name, ownerEmail: owner })
    const isMailed = owner !== undefined && app.people.linkMailPolicy(owner).mailed
    return {
      data: presentTeam(team),
      lines: [
        `Team ${team.id} (${team.name}) is created.`,
        ...(owner === undefined ? [] : [isMailed ? mailed(owner) : withheld(owner, team.id)]),
        `A key for it: mailstead key create --team ${team.id}`,
      ],
    }
  },
}

function mailed(owner: string): string {
  return `An invitation to ${owner} is queued; mailstead serve sends it.`
}

function withheld(owner: string, teamId: string): string {
  return `No link is mailed to ${owner}, an address of this appliance: mailstead login-link ${shellWord(owner)} --team ${teamId}`
}
