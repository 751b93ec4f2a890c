// The outbound queue, for the operator.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import type { QueuedMessage } from '../../outbound/queued-messages.ts'
import { MANAGEMENT_PAGE } from '../management/pages.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'

const params = Type.Object({ email_id: Id('email') })

const QueueEntry = record('QueueEntry', 'A mail that waits to leave, for one recipient.', {
  message_id: Id('email'),
  team_id: Id('team'),
  from_email: Type.String(),
  subject: Type.String(),
  domain: Type.String({ description: 'Domain of the recipient.' }),
  due_at: TimeOf('When it is tried next; while it is in hand, when it is taken up again if nothing is heard.'),
  in_hand: Type.Boolean({ description: 'It is being handed over now.' }),
  queued_at: TimeOf('When it was accepted.'),
  expires_at: TimeOf('When it is given up.'),
})

const Changed = (title: string, description: string) =>
  record(title, description, { message_id: Id('email'), deliveries: Type.Integer({ minimum: 0 }) })

const listQueue = route({
  method: 'GET',
  surface: 'operator',
  path: '/queue',
  operation: 'listQueue',
  tag: 'Queue',
  summary: 'Lists what waits to leave, what is due first on top.',
  as: 'operator',
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    team_id: { ...Id('team'), description: 'Mail of this team.' },
    domain: Type.String({ minLength: 1, maxLength: 253, description: 'Domain of the recipient.' }),
  }),
  reply: listOf(QueueEntry),
  async handle({ query: { team_id: teamId, domain, limit }, after, app }) {
    const page = await app.outbound.queuedMessages.list({ teamId, lane: domain?.toLowerCase(), limit, after })
    return { items: page.items.map(present), next: page.next }
  },
})

const retryQueued = route({
  method: 'POST',
  surface: 'operator',
  path: '/queue/{email_id}/retry',
  operation: 'retryQueued',
  tag: 'Queue',
  summary: 'Has a mail tried again now.',
  as: 'operator',
  params,
  reply: Changed('QueueRetried', 'How many of its deliveries are due now.'),
  async handle({ params: { email_id }, app }) {
    return { message_id: email_id, deliveries: await app.outbound.queuedMessages.retry(email_id) }
  },
})

const dropQueued = route({
  method: 'DELETE',
  surface: 'operator',
  path: '/queue/{email_id}',
  operation: 'dropQueued',
  tag: 'Queue',
  summary: 'Gives up what waits of a mail; its log says `cancelled`.',
  as: 'operator',
  params,
  reply: Changed('QueueDropped', 'How many of its deliveries were given up.'),
  async handle({ params: { email_id }, app }) {
    return { message_id: email_id, deliveries: await app.outbound.queuedMessages.drop(email_id) }
  },
})

function present({ row, email }: QueuedMessage): Static<typeof QueueEntry> {
  return {
    message_id: email.id,
    team_id: email.teamId,
    from_email: email.from.email,
    subject: email.subject,
    domain: row.lane,
    due_at: isoTime(row.dueAt),
    in_hand: row.inHand,
    queued_at: isoTime(email.queuedAt),
    expires_at: isoTime(email.expiresAt),
  }
}

export const operatorQueue = [listQueue, retryQueued, dropQueued]
