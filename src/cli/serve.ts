// `mailstead serve`: runs the appliance until it is told to stop.

import { openLog } from '../base/log.ts'
import { openContext } from '../context.ts'
import { firstTeam } from '../directory/first-team.ts'
import type { Call, Command } from './command.ts'
import { tellFirst } from './setup.ts'

export const serveCommand: Command = {
  words: 'serve',
  summary: 'Runs the appliance; an empty data folder is set up first.',
  async run(call) {
    await setUp(call)
    // Only this command needs the doors of the house, which take a while to load.
    const { serve } = await import('../main.ts')
    await serve(call.config)
    return undefined
  },
}

// In a house of its own, which is closed again before the appliance opens the folder.
async function setUp({ config, tell }: Call): Promise<void> {
  const app = await openContext(config, { log: openLog('silent') })
  try {
    const first = await firstTeam(app.directory)
    if (first !== undefined) tell(tellFirst(config, app, first))
  } finally {
    await app.close()
  }
}
