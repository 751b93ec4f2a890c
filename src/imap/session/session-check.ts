// The look at each session once a second: ends it when a deadline has passed, and says that it or its command goes on.

import type { ImapSession } from './session.ts'

export function checkSession(session: ImapSession): void {
  const { deadlines, reader, writer, changes, isIdle, isRunning } = session
  const problem = deadlines.problem({
    ...{ isIdle, isRunning },
    isSignedIn: session.user !== null,
    hasBegun: reader.hasBegun,
    received: reader.received,
    blockedSince: writer.blockedSince,
  })
  if (problem === 'unread') session.destroy()
  else if (problem !== null) session.expire(problem)
  else if (isIdle && !changes.isRunning && deadlines.stillHereDue()) session.say('* OK Still here\r\n')
  else if (session.isBusy && !deadlines.isReadingContent) session.progress.sayTo(writer)
}
