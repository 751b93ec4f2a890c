// The events of a team, for polling and catching up: what webhooks send.

import { Type } from 'typebox'
import { pause } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery, Timestamp } from '../../http/schema.ts'
import { requireLiveCredential } from '../rules/waiting.ts'
import { timeFilters, timeRange } from '../schemas/list-filters.ts'
import { record } from '../schemas/record.ts'
import { EventTypeName } from '../schemas/webhook.ts'
import { LOG_PAGE } from './pages.ts'
import { eventFor, NO_PREVIEWS } from './previews.ts'

const EventJson = record('Event', 'An event, as it is sent to webhooks.', {
  id: Id('event'),
  type: EventTypeName,
  created_at: Timestamp,
  api_version: Type.String(),
  team_id: Id('team'),
  data: Type.Record(Type.String(), Type.Unknown(), {
    description: 'As in the webhook of this type. Content of messages is untrusted.',
  }),
})

/** Longest wait of a request, seconds: proxies close connections that are silent for a minute. */
const WAIT_MAX_SECONDS = 30
const POLL_MS = 250
/** Requests of one credential, and of all of a team: each holds a connection while it waits (docs/design/http.md §9). */
export const LISTS_MAX = 20
const LISTS_OF_TEAM_MAX = 100

type EventsPage = ReturnType<Context['events']['list']>

const KEPT = 'Kept for `WEBHOOK_PAYLOAD_RETENTION_DAYS`, whether or not there is a webhook.'
const { after, before } = timeFilters('Created')

const listEvents = route({
  method: 'GET',
  path: '/events',
  docs: {
    operation: 'listEvents',
    tag: 'Webhooks',
    summary: 'List events, oldest first',
    description:
      `In the order in which they were committed: \`after_id\` with the last event a client has seen returns each later one exactly ` +
      `once. At most ${LISTS_MAX} requests of one person or key run at a time, and ${LISTS_OF_TEAM_MAX} of a team (429). ` +
      `${KEPT} ${NO_PREVIEWS}`,
  },
  access: { as: 'team', permission: 'webhook.read' },
  limits: { maxConcurrent: LISTS_OF_TEAM_MAX, maxConcurrentOfCaller: LISTS_MAX },
  query: pageQuery({
    limit: LOG_PAGE,
    type: EventTypeName,
    mailbox_id: { ...Id('mailbox'), description: 'Events of this mailbox; 404 when it is not of the team.' },
    ...{ after, before },
    after_id: { ...Id('event'), description: 'Events after this one; 404 when it is no longer kept.' },
    wait: Type.Integer({
      minimum: 0,
      maximum: WAIT_MAX_SECONDS,
      description: 'Seconds to wait for an event while there is none; the answer is then empty.',
    }),
  }),
  reply: { schema: listOf(EventJson) },
  async handle({ query, after: position, principal, app, request }) {
    const { teamId } = principal
    const { type, mailbox_id: mailboxId, after_id: afterId, limit, wait = 0 } = query
    if (mailboxId !== undefined && !app.directory.mailboxes.wasOf(teamId, mailboxId)) throw notFound('mailbox')
    if (afterId !== undefined && app.events.get(teamId, afterId) === undefined) throw notFound('event')
    const filter = { type, mailboxId, afterId, ...timeRange(query) }
    const read = () => app.events.list(teamId, filter, { limit, after: position })
    const page = await readUntil(app, { teamId, ends: app.clock.now() + wait * 1000, signal: request.signal }, read)
    if (wait > 0) await requireLiveCredential(request)
    return { ...page, items: page.items.map((event) => eventFor(principal, event)) }
  },
})

interface EventWait {
  teamId: string
  /** ms */
  ends: number
  /** Aborted when the client has left. */
  signal: AbortSignal
}

/** Reads again after each event of the team until there is one on the page. */
async function readUntil({ events, clock }: Context, { teamId, ends, signal }: EventWait, read: () => EventsPage) {
  for (;;) {
    const newest = events.newest(teamId)
    const page = await read()
    if (page.items.length > 0 || clock.now() >= ends) return page
    while (events.newest(teamId) === newest && clock.now() < ends) {
      if (signal.aborted) return page
      await pause(clock, Math.min(POLL_MS, Math.max(1, ends - clock.now())), signal)
    }
  }
}

const readEvent = route({
  method: 'GET',
  path: '/events/{event_id}',
  docs: {
    operation: 'getEvent',
    tag: 'Webhooks',
    summary: 'Get an event',
    description: `${KEPT} ${NO_PREVIEWS}`,
  },
  access: { as: 'team', permission: 'webhook.read' },
  params: Type.Object({ event_id: Id('event') }),
  reply: { schema: EventJson, etag: true },
  handle({ params: { event_id }, principal, app }) {
    const found = app.events.get(principal.teamId, event_id)
    if (found === undefined) throw notFound('event')
    return eventFor(principal, found)
  },
})

export const events = [listEvents, readEvent]
