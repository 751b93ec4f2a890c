// A child that is the appliance itself, on the settings of its environment; mailboxes named as arguments are made first.

import process from 'node:process'
import { loadConfig } from '../src/config/load.ts'
import { openAppliance } from '../src/main.ts'
import { seedMailbox } from './seed.ts'

/** What the parent is told once the doors are open. */
export interface HouseReady {
  smtp: number
  app: number
  /** Mailbox keys in the order of the arguments. */
  keys: string[]
}

const house = await openAppliance(loadConfig(process.env))
const keys: string[] = []
for (const email of process.argv.slice(2)) keys.push((await seedMailbox(house.app, email)).key)
process.send!({ smtp: house.ports.smtp, app: house.ports.app, keys } satisfies HouseReady)
process.on('SIGTERM', async () => {
  await house.close()
  process.exit(0)
})
