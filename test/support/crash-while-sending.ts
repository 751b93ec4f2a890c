// A process that accepts one batch for sending and crashes after the commit, before the response.

import process from 'node:process'
import { loadConfig } from '../../src/config/load.ts'
import { openAppliance } from './program.ts'

const appliance = await openAppliance(loadConfig(process.env), {
  workers: 'here',
  async prepare({
    outbound: {
      submit: { submitter },
    },
  }) {
    const submit = submitter.submit.bind(submitter)
    submitter.submit = async (...given) => {
      const submitted = await submit(...given)
      process.kill(process.pid, 'SIGKILL')
      return submitted
    }
  },
})
process.send!({ send: appliance.ports.send })
