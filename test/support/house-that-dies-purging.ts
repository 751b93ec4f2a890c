// A process that erases the first piece of a deleted mailbox and dies.

import process from 'node:process'
import { loadConfig } from '../../src/config/load.ts'
import { openAppliance } from '../../src/main.ts'

await openAppliance(loadConfig(process.env), {
  workers: 'here',
  async prepare({ store: { purge }, appliance }) {
    // The folder was last used weeks ago, which holds purges until an operator says that the clock is right.
    await appliance.acceptClock()
    const next = purge.next.bind(purge)
    purge.next = async (mailboxId) => {
      await next(mailboxId)
      process.kill(process.pid, 'SIGKILL')
      return 0
    }
  },
})
