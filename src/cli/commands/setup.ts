// `mailstead setup`: makes the data folder, the first team and its root key.

import { presentNewKey } from '../../api/schemas/api-key.ts'
import type { Config } from '../../config/config.ts'
import type { Context } from '../../context.ts'
import { type FirstTeam, firstTeam } from '../../directory/first-team.ts'
import type { Command, CommandOutput } from '../frame/command.ts'
import { presentTeam } from '../frame/present-team.ts'

export const setup: Command = {
  words: 'setup',
  summary: 'Create the data folder, the first team and a root key where they are missing.',
  options: { 'team-name': { value: 'name', says: 'name of the first team' } },
  async run(call) {
    const app = await call.open()
    const first = await firstTeam(app.directory, call.text('team-name'))
    return first === undefined ? already(app) : firstStartOutput(call.config, app, first)
  },
}

/** Output for a new appliance; the only time its key is shown. */
export function firstStartOutput(config: Config, app: Context, { team, key }: FirstTeam): CommandOutput {
  return {
    data: { created: true, data_dir: app.folder.path, team: presentTeam(team), api_key: presentNewKey(key) },
    lines: [
      `Mailstead is set up in ${app.folder.path}.`,
      '',
      `  team      ${team.id} (${team.name})`,
      `  root key  ${key.secret}`,
      '',
      'The key is shown only once: store it. It gives access to the API at',
      `  ${config.APP_ORIGIN}/api/v1`,
    ],
  }
}

function already(app: Context): CommandOutput {
  return {
    data: { created: false, data_dir: app.folder.path },
    lines: [`${app.folder.path} is already set up. To create a new key: mailstead key create`],
  }
}

/** Output at the start of an appliance whose root key was never used: the start that printed it may have been interrupted. */
export function unusedKeyOutput(app: Context): CommandOutput {
  return {
    data: { created: false, data_dir: app.folder.path, root_key_used: false },
    lines: ['No root key of this appliance has been used yet. If you have none, create one: mailstead key create'],
  }
}

/** Output at the start of an appliance without an owner. @param address with the one-time token */
export function firstRunOutput(address: string): CommandOutput {
  return {
    data: { first_run: address },
    lines: [
      '',
      'Open this address in a browser on this machine to set up Mailstead. It works once, for a day:',
      `  ${address}`,
      '',
    ],
  }
}
