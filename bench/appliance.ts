// Child process: runs the appliance with the settings of its environment, after creating the mailboxes named as arguments.

import process from 'node:process'
import { loadConfig } from '../src/config/load.ts'
import { openAppliance } from '../src/main.ts'
import { seedMailbox } from './seed.ts'

/** Sent to the parent once the listeners are open. */
export interface ApplianceReady {
  smtp: number
  app: number
  /** Mailbox keys in the order of the arguments. */
  keys: string[]
}

const appliance = await openAppliance(loadConfig(process.env))
const keys: string[] = []
for (const email of process.argv.slice(2)) keys.push((await seedMailbox(appliance.app, email)).key)
process.send!({ smtp: appliance.ports.smtp, app: appliance.ports.app, keys } satisfies ApplianceReady)
process.on('SIGTERM', async () => {
  await appliance.close()
  process.exit(0)
})
