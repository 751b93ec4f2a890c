// NOTIFY (RFC 5465): which changes of which mailboxes are announced, between commands as well.

import type { Cursor } from '../grammar/cursor.ts'
import { FILTER_NAMES } from '../grammar/limits.ts'
import { NOTIFY_EVENT_NAMES, type NotifyRequest, readNotifyRequest } from '../grammar/notify-request.ts'
import { no } from '../session/answers.ts'
import { NotifySettings } from '../session/notify-settings.ts'
import { command, type ImapSession } from '../session/session.ts'

async function setNotify(session: ImapSession, { groups, withStatus }: NotifyRequest): Promise<undefined> {
  if (groups === null) {
    session.changes.notify(NotifySettings.NONE)
    return undefined
  }
  if (groups.some(({ unknown }) => unknown.length > 0))
    throw no(`BADEVENT (${NOTIFY_EVENT_NAMES.join(' ')})`, 'These are the supported events.')
  const names = groups.reduce((sum, { filter }) => sum + ('names' in filter ? filter.names.length : 0), 0)
  if (names > FILTER_NAMES) throw no('NOTIFICATIONOVERFLOW', 'Too many mailbox names.')
  if (groups.some(({ items }) => items?.some((item) => item.kind === 'plain' && item.name === 'MODSEQ')))
    session.enableCondstore()
  // What the client could still learn under the former settings is announced first.
  if (session.selected !== null) await session.changes.announce({ mayRemove: true, withUid: false })
  const watched = session.changes.notify(new NotifySettings(groups, session.utf8))
  if (withStatus) await watched?.sayAll()
  return undefined
}

export const notify = command({
  name: 'NOTIFY',
  in: 'authenticated',
  needs: 'read',
  read(cursor: Cursor) {
    cursor.space()
    return readNotifyRequest(cursor)
  },
  run: (request, session) => setNotify(session, request),
})
