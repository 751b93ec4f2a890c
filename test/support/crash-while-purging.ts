// A process that erases the first batch of a deleted mailbox and crashes.

import process from 'node:process'
import { loadConfig } from '../../src/config/load.ts'
import { openAppliance } from './program.ts'

await openAppliance(loadConfig(process.env), {
  workers: 'here',
  async prepare({
    store: {
      upkeep: { purge },
    },
    appliance,
  }) {
    // The folder was last used weeks ago: purges wait until an operator accepts the clock.
    await appliance.acceptClock()
    const next = purge.next.bind(purge)
    purge.next = async (mailboxId) => {
      await next(mailboxId)
      process.kill(process.pid, 'SIGKILL')
      return 0
    }
  },
})
