// The sessions of the signed-in person: where they are signed in, and how to end that.

import { type Static, Type } from 'typebox'
import { isoTime } from '../base/clock.ts'
import { notFound } from '../base/errors.ts'
import type { Context } from '../context.ts'
import { record } from '../http/record.ts'
import { route } from '../http/route.ts'
import { Id, listOf, Words } from '../http/schema.ts'
import { TimeOf } from '../http/time.ts'
import type { SessionRecord } from '../people/sessions.ts'
import { ME_ROUTE } from './me-route.ts'
import { sessionIn } from './self.ts'

const docs = { tag: 'Person' }

const PersonSession = record('PersonSession', 'A browser that is signed in.', {
  id: Id('session'),
  method: Words(['link', 'passkey', 'password', 'recovery', 'first_run']),
  trusted: Type.Boolean(),
  user_agent: Type.String(),
  source: Type.String({ description: 'Address it signed in from.' }),
  created_at: TimeOf('When it signed in.'),
  last_seen_at: TimeOf('Accurate to five minutes.'),
  expires_at: TimeOf('When it ends without further use.'),
  current: Type.Boolean({ description: 'Whether it is this browser.' }),
})

const listSessions = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/sessions',
  docs: {
    ...docs,
    operation: 'listSessions',
    summary: 'List where you are signed in, the one used last first',
    description: 'With browser, address and time of the last use; one is marked as this one.',
  },
  reply: { schema: listOf(PersonSession), list: 'whole' },
  handle({ app, request }) {
    const own = sessionIn(request)
    return { items: visible(app, own).map((one) => presentSession(one, own.id)), next: null }
  },
})

const deleteSession = route({
  ...ME_ROUTE,
  method: 'DELETE',
  path: '/sessions/{session_id}',
  docs: {
    ...docs,
    operation: 'deleteSessionById',
    summary: 'Sign out another browser',
    description: 'It ends at once, with its event streams.',
  },
  params: Type.Object({ session_id: Id('session') }),
  reply: { schema: Type.Object({ deleted: Type.Literal(true), id: Id('session') }) },
  async handle({ params: { session_id: id }, app, request }) {
    const own = sessionIn(request)
    if (visible(app, own).every((one) => one.id !== id)) throw notFound('session')
    await app.db.write((tx) => app.people.sessions.closeById(tx, own.email, id))
    return { deleted: true, id }
  },
})

const deleteSessions = route({
  ...ME_ROUTE,
  method: 'DELETE',
  path: '/sessions',
  docs: {
    ...docs,
    operation: 'deleteOtherSessions',
    summary: 'Sign out everywhere but here',
    description: 'The session of this request stays.',
  },
  reply: { schema: Type.Object({ deleted: Type.Integer({ minimum: 0, description: 'How many.' }) }) },
  async handle({ app, request }) {
    const own = sessionIn(request)
    const others = visible(app, own).filter(({ id }) => id !== own.id)
    await app.db.write((tx) => {
      for (const { id } of others) app.people.sessions.closeById(tx, own.email, id)
    })
    return { deleted: others.length }
  },
})

/** A session that opens one team sees the sessions of that team. */
function visible(app: Context, { email, teamId }: SessionRecord): SessionRecord[] {
  return app.people.sessions.list(email).filter((one) => teamId === null || one.teamId === teamId)
}

function presentSession(one: SessionRecord, ownId: string): Static<typeof PersonSession> {
  const { id, method, trusted, userAgent, source, createdAt, lastSeenAt, expiresAt } = one
  const times = { created_at: isoTime(createdAt), last_seen_at: isoTime(lastSeenAt), expires_at: isoTime(expiresAt) }
  return { id, method, trusted, user_agent: userAgent, source, ...times, current: id === ownId }
}

export const sessionRoutes = [listSessions, deleteSession, deleteSessions]
