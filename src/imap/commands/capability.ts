// CAPABILITY (RFC 9051 §6.1.1).

import { offeredCapabilities } from '../offered.ts'
import { command } from '../session.ts'

export const capability = command({
  name: 'CAPABILITY',
  in: 'any',
  read: () => null,
  run(_, session) {
    session.say(`* CAPABILITY ${offeredCapabilities(session).join(' ')}\r\n`)
    return undefined
  },
})
