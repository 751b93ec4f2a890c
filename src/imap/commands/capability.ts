// CAPABILITY (RFC 9051 §6.1.1).

import { offeredCapabilities } from '../session/offered.ts'
import { command } from '../session/session.ts'

export const capability = command({
  name: 'CAPABILITY',
  in: 'any',
  read: () => null,
  run(_, session) {
    session.say(`* CAPABILITY ${offeredCapabilities(session).join(' ')}\r\n`)
    return undefined
  },
})
