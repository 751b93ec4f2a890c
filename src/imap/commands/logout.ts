// LOGOUT (RFC 9051 §6.1.3).

import { command } from '../session/session.ts'

export const logout = command({
  name: 'LOGOUT',
  in: 'any',
  read: () => null,
  run(_, session) {
    session.bye('Logging out.')
    return undefined
  },
})
