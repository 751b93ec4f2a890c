// `mailstead setup`: makes the data folder, the first team and its root key.

import { presentNewKey } from '../api/schemas/api-key.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import { type FirstTeam, firstTeam } from '../directory/first-team.ts'
import type { Command, Told } from './command.ts'
import { presentTeam } from './present-team.ts'

export const setup: Command = {
  words: 'setup',
  summary: 'Makes the data folder, the first team and a root key, where they are missing.',
  options: { 'team-name': { value: 'name', says: 'name of the first team' } },
  async run(call) {
    const app = await call.open()
    const first = await firstTeam(app.directory, call.text('team-name'))
    return first === undefined ? already(app) : tellFirst(call.config, app, first)
  },
}

/** What is told of a new appliance; the only time its key is shown. */
export function tellFirst(config: Config, app: Context, { team, key }: FirstTeam): Told {
  return {
    data: { created: true, data_dir: app.folder.path, team: presentTeam(team), api_key: presentNewKey(key) },
    lines: [
      `Mailstead is set up in ${app.folder.path}.`,
      '',
      `  team      ${team.id} (${team.name})`,
      `  root key  ${key.secret}`,
      '',
      'The key is shown this once: keep it. It opens the API at',
      `  ${config.APP_ORIGIN}/api/v1`,
    ],
  }
}

function already(app: Context): Told {
  return {
    data: { created: false, data_dir: app.folder.path },
    lines: [`${app.folder.path} is set up already. A new key is made by: mailstead key create`],
  }
}

/** What is told at the start of an appliance that is set up already, while its key may never have been seen: the start that made it was ended. */
export function tellUnused(app: Context): Told {
  return {
    data: { created: false, data_dir: app.folder.path, root_key_used: false },
    lines: ['No root key of this appliance has been used yet. If you have none, create one: mailstead key create'],
  }
}
