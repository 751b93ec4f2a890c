// The outbound queue, for the operator.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery } from '../../http/schema.ts'
import type { QueuedMessage } from '../../outbound/queue/queued-messages.ts'
import { MANAGEMENT_PAGE } from '../management/pages.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'

const params = Type.Object({ email_id: Id('email') })

const QueueEntry = record('QueueEntry', 'A queued message, for one recipient.', {
  message_id: Id('email'),
  team_id: Id('team'),
  from_email: Type.String(),
  subject: Type.String(),
  to_email: Type.String({ description: 'The recipient.' }),
  domain: Type.String({ description: 'Domain of the recipient.' }),
  attempts: Type.Integer({ minimum: 0, description: 'Attempts so far.' }),
  reason: Nullable(Type.String({ description: 'What the last attempt ended with; null before the first.' })),
  due_at: TimeOf('Time of the next attempt; for a delivery in progress, the time its lease expires.'),
  in_hand: Type.Boolean({ description: 'An attempt is in progress.' }),
  queued_at: TimeOf('When it was accepted.'),
  expires_at: TimeOf('When delivery is given up.'),
})

const Changed = (title: string, description: string) =>
  record(title, description, { message_id: Id('email'), deliveries: Type.Integer({ minimum: 0 }) })

const listQueue = route({
  method: 'GET',
  surface: 'operator',
  path: '/queue',
  docs: {
    operation: 'listQueue',
    tag: 'Queue',
    summary: 'List the queue, the earliest due delivery first',
    description: 'Deliveries of all teams, with the last reply and the time of the next attempt.',
  },
  access: { as: 'operator' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    team_id: { ...Id('team'), description: 'Messages of this team.' },
    domain: Type.String({ minLength: 1, maxLength: 253, description: 'Domain of the recipient.' }),
  }),
  reply: { schema: listOf(QueueEntry) },
  async handle({ query: { team_id: teamId, domain, limit }, after, app }) {
    const page = await app.outbound.queue.messages.list({ teamId, lane: domain?.toLowerCase(), limit, after })
    return { items: page.items.map(present), next: page.next }
  },
})

const retryQueuedMessage = route({
  method: 'POST',
  surface: 'operator',
  path: '/queue/{email_id}/retry',
  docs: {
    operation: 'retryQueuedMessage',
    tag: 'Queue',
    summary: 'Retry a queued message now',
    description: 'Its deliveries are due at once; the retry schedule goes on from where it was.',
  },
  access: { as: 'operator' },
  params,
  reply: { schema: Changed('QueueRetried', 'Number of its deliveries that are now due.') },
  async handle({ params: { email_id }, app }) {
    return { message_id: email_id, deliveries: await app.outbound.queue.messages.retry(email_id) }
  },
})

const dropQueuedMessage = route({
  method: 'DELETE',
  surface: 'operator',
  path: '/queue/{email_id}',
  docs: {
    operation: 'dropQueuedMessage',
    tag: 'Queue',
    summary: 'Drop a queued message; its log shows `cancelled`',
    description: 'Recipients that were delivered to already are not affected.',
  },
  access: { as: 'operator' },
  params,
  reply: { schema: Changed('QueueDropped', 'Number of its deliveries that were dropped.') },
  async handle({ params: { email_id }, app }) {
    return { message_id: email_id, deliveries: await app.outbound.queue.messages.drop(email_id) }
  },
})

/** The status of a waiting delivery says what its last attempt ended with. */
const DEFERRED = /^deferred: /

function present({ row, email, delivery }: QueuedMessage): Static<typeof QueueEntry> {
  return {
    message_id: email.id,
    team_id: email.teamId,
    from_email: email.from.email,
    subject: email.subject,
    to_email: delivery.to,
    domain: row.lane,
    attempts: delivery.attempts,
    reason: delivery.statusReason?.replace(DEFERRED, '') ?? null,
    due_at: isoTime(row.dueAt),
    in_hand: row.isLeased,
    queued_at: isoTime(email.queuedAt),
    expires_at: isoTime(email.expiresAt),
  }
}

export const operatorQueue = [listQueue, retryQueuedMessage, dropQueuedMessage]
