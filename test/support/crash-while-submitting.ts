// A process that accepts submitted messages and crashes with the first: before its unit of work, or after the commit and before the reply.

import process from 'node:process'
import { loadConfig } from '../../src/config/load.ts'
import { openAppliance } from './program.ts'

const appliance = await openAppliance(loadConfig(process.env), {
  workers: 'here',
  async prepare({
    db,
    outbound: {
      submit: { rawSubmitter },
    },
  }) {
    const crash = () => process.kill(process.pid, 'SIGKILL')
    if (process.env.CRASH === 'before') {
      db.writeInSteps = async () => {
        crash()
        return new Promise<never>(() => {})
      }
    } else if (process.env.CRASH === 'after') {
      const submit = rawSubmitter.submit.bind(rawSubmitter)
      rawSubmitter.submit = async (...given) => {
        const accepted = await submit(...given)
        crash()
        return accepted
      }
    }
  },
})
process.send!({ submissions: appliance.ports.submissions })
