// IDLE (RFC 2177, RFC 9051 §6.3.13): changes are announced as they happen, by the notifier of the event stream.

import { bad } from '../session/answers.ts'
import { command } from '../session/session.ts'

// DONE, with some room for what is not DONE.
const DONE_BYTES = 64

export const idle = command({
  name: 'IDLE',
  in: 'authenticated',
  needs: 'read',
  read: () => null,
  async run(_, session) {
    session.isIdle = true
    try {
      session.requestLiteral('idling')
      session.changes.idleBegan()
      const line = (await session.reader.line(DONE_BYTES)).toString('latin1')
      if (line.toUpperCase() !== 'DONE') throw bad('Expected DONE.')
    } finally {
      session.isIdle = false
      await session.changes.idleEnded()
    }
    return undefined
  },
})
