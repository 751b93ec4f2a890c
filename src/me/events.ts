// One event stream for a browser, over the mailboxes and teams of the person.

import { Type } from 'typebox'
import { idPattern } from '../base/ids.ts'
import { route, stream } from '../http/route.ts'
import { CommaList, Default } from '../http/schema.ts'
import { PING, pingSeconds } from '../http/sse-stream.ts'
import { TEAM_CHANGES } from '../people/team-changes.ts'
import { ME_ROUTE } from './me-route.ts'
import { ACTORS_MAX, PersonStream } from './person-stream.ts'
import { sessionIn } from './self.ts'

/** Concurrent streams of one person. */
export const STREAMS_MAX = 10
const inner = (kind: 'team' | 'mailbox') => idPattern(kind).slice(1, -1)
const ActorId = Type.String({ pattern: `^(${inner('team')}|${inner('mailbox')})$` })

const readEvents = route({
  ...ME_ROUTE,
  method: 'GET',
  path: '/events',
  docs: {
    operation: 'streamPersonEvents',
    tag: 'Person',
    summary: 'Stream what changes in your mailboxes and teams as Server-Sent Events',
    description:
      '`state` {actor, mailbox_id, changed: {type: state}} and `message.received` {actor, …} are those of `GET /mailbox/events` for each ' +
      `mailbox. \`team\` {actor, changed: [${TEAM_CHANGES.join(', ')}]} says at most once a second what may be different in a team, as ` +
      'far as the role permits to read it. `approvals` {count} says how many approvals wait: at the beginning and after each change. `left` ' +
      '{actor} says that the person can no longer open a mailbox or team. `reload` {version} says that another version of the appliance ' +
      'runs than before the connection was lost. To resume, send the last `id` in Last-Event-ID, as EventSource does: mailboxes begin ' +
      'with the difference, and each team with a `team` event that names everything. `ping` {interval} is sent after a time without other ' +
      'events. `end` {reason: max_duration, credential_revoked, shutdown} is the last event: a stream lasts at most one hour and ends ' +
      `with its session. At most ${STREAMS_MAX} streams of a person are open at a time (429).`,
    errors: ['not_found'],
  },
  query: Type.Object({
    actors: Default(
      {
        ...CommaList(ActorId, ACTORS_MAX),
        description: `Comma list of mailboxes and teams, at most ${ACTORS_MAX}; left out: all of the person's, up to that number.`,
      },
      [],
    ),
    ping: Default(
      Type.Integer({
        description: `Seconds without an event after which a \`ping\` is sent; limited to ${PING.least} to ${PING.most}, 0 means ${PING.usual}.`,
      }),
      PING.usual,
    ),
  }),
  reply: {
    types: ['text/event-stream'],
    stream: true,
    schema: Type.String({
      description: 'Frames of the event stream format of the HTML standard (Server-Sent Events).',
      examples: ['event: team\ndata: {"actor":"team_…","changed":["domains"]}\n\n'],
    }),
  },
  limits: { maxConcurrent: STREAMS_MAX },
  handle({ query, app, request }) {
    const session = sessionIn(request)
    const options = {
      actors: query.actors,
      pingSeconds: pingSeconds(query.ping),
      status: () => request.credentialStatus(),
    }
    return stream({
      // Proxies buffer responses without this header.
      headers: { 'X-Accel-Buffering': 'no' },
      open: () => PersonStream.open(app, session, options, request.lastEventId),
    })
  },
})

export const eventRoutes = [readEvents]
