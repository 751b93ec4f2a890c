// `mailstead serve`: runs the appliance until it gets a signal.

import { isAtTerminal } from '../../base/log.ts'
import { firstTeam } from '../../directory/first-team.ts'
import type { Command } from '../frame/command.ts'
import { addressOutput } from './addresses.ts'
import { firstRunOutput, firstStartOutput, unusedKeyOutput } from './setup.ts'

export const serveCommand: Command = {
  words: 'serve',
  summary: 'Run the appliance; an empty data folder is set up first.',
  async run(call) {
    // Only this command needs the listeners, which take a while to load.
    const { serve } = await import('../../main.ts')
    await serve(
      call.config,
      async (app) => {
        const first = await firstTeam(app.directory)
        if (first !== undefined) call.print(firstStartOutput(call.config, app, first))
        else if (!app.directory.keys.hasUsedRoot()) call.print(unusedKeyOutput(app))
        const address = app.people.firstRun.begin()
        if (address !== null) call.print(firstRunOutput(address))
      },
      // Programs find them in the log.
      ({ ports }) => {
        if (!call.json && isAtTerminal()) call.print(addressOutput(call.config, ports))
      },
    )
    return undefined
  },
}
