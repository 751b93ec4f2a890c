// Child process: creates the mailboxes named as arguments in a data folder that no appliance uses.

import process from 'node:process'
import { openLog } from '../src/base/log.ts'
import { loadConfig } from '../src/config/load.ts'
import { openContext } from '../src/context.ts'
import { seedMailbox } from './seed.ts'

/** Sent to the parent when the folder is closed: keys in the order of the arguments. */
export interface SeededBoxes {
  keys: string[]
}

const app = await openContext(loadConfig(process.env), { log: openLog('error') })
const keys: string[] = []
for (const email of process.argv.slice(2)) keys.push((await seedMailbox(app, email)).key)
await app.close()
process.send!({ keys } satisfies SeededBoxes)
process.disconnect!()
process.exitCode = 0
