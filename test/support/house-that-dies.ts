// A process that takes one batch for sending and dies behind the commit, before anybody is answered.

import process from 'node:process'
import { loadConfig } from '../../src/config/load.ts'
import { openAppliance } from '../../src/main.ts'

const house = await openAppliance(loadConfig(process.env), {
  workers: 'here',
  async prepare({ outbound: { submitter } }) {
    const submit = submitter.submit.bind(submitter)
    submitter.submit = async (...given) => {
      const submitted = await submit(...given)
      process.kill(process.pid, 'SIGKILL')
      return submitted
    }
  },
})
process.send!({ send: house.ports.send })
