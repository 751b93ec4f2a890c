// A process that crashes after the commit that stores copies of a message in local mailboxes.

import process from 'node:process'
import { loadConfig } from '../../src/config/load.ts'
import { openAppliance } from './program.ts'

await openAppliance(loadConfig(process.env), {
  workers: 'here',
  async prepare({ store }) {
    const deliver = store.delivery.deliver.bind(store)
    store.delivery.deliver = async (message, targets, record) => {
      const outcome = await deliver(message, targets, record)
      process.kill(process.pid, 'SIGKILL')
      return outcome
    }
  },
})
