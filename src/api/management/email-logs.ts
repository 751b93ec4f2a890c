// The delivery log of a team: the outcome of every accepted message.

import { type Static, Type } from 'typebox'
import { DAY_MS } from '../../base/durations.ts'
import { notFound, ProductError } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { FilterId, Id, listOf, pageQuery } from '../../http/schema.ts'
import {
  DeliveryLogDetail,
  DeliveryLogJson,
  DeliveryStatus,
  presentDelivery,
  presentDeliveryDetail,
} from '../schemas/delivery-log.ts'
import { readTag, TagQuery } from '../schemas/labels.ts'
import { endName, searchFilters, searchOf, timeFilters, timeRange } from '../schemas/list-filters.ts'
import { LOG_PAGE } from './pages.ts'

const RANGE_MAX_MS = 366 * DAY_MS
const query = pageQuery({
  limit: LOG_PAGE,
  status: DeliveryStatus,
  ...timeFilters('Accepted'),
  provider_id: { ...FilterId('provider'), description: 'Messages sent through this sending account.' },
  mailbox_id: { ...Id('mailbox'), description: 'Messages sent from this mailbox; 404 when it is not of the team.' },
  message_id: { ...FilterId('email'), description: 'The recipients of one message.' },
  domain: Type.String({ minLength: 1, maxLength: 253, description: 'Domain of the recipient.' }),
  tag: TagQuery,
  ...searchFilters('Words that all occur in the addresses, the subject or the message id.'),
})

const listEmailLogs = route({
  method: 'GET',
  path: '/emails/logs',
  docs: {
    operation: 'listEmailLogs',
    tag: 'Delivery log',
    summary: 'List the delivery log, newest first',
    description:
      'One row for each recipient of each message. `after` and `before` are at most 366 days apart. Rows are kept for ' +
      '`LOG_RETENTION_DAYS`. `meta.filters` repeats the filters.',
  },
  access: { as: 'team', permission: 'logs.read' },
  query,
  reply: { schema: listOf(DeliveryLogJson) },
  async handle({ query: filters, after, principal, app }) {
    const { mailboxes } = app.directory
    const { mailbox_id: mailboxId, limit } = filters
    if (mailboxId !== undefined && !mailboxes.wasOf(principal.teamId, mailboxId)) throw notFound('mailbox')
    const filter = {
      ...rangeOf(filters),
      mailboxId,
      status: filters.status,
      providerId: filters.provider_id,
      emailId: filters.message_id,
      domain: filters.domain,
      tag: filters.tag === undefined ? undefined : readTag(filters.tag),
      search: searchOf(filters),
    }
    const page = await app.outbound.log.deliveries.list(principal.teamId, filter, { limit, after })
    return { items: page.items.map(presentDelivery), next: page.next, meta: { filters: filtersOf(filters) } }
  },
})

const readEmailLog = route({
  method: 'GET',
  path: '/emails/logs/{log_id}',
  docs: {
    operation: 'getEmailLog',
    tag: 'Delivery log',
    summary: 'Get a delivery log row with its events',
    description:
      'The events are the timeline of the delivery: queued, each attempt with the reply of the server, and the outcome.',
  },
  access: { as: 'team', permission: 'logs.read' },
  params: Type.Object({ log_id: Id('deliveryLog') }),
  reply: { schema: DeliveryLogDetail, etag: true },
  handle({ params: { log_id }, principal, app }) {
    const row = app.outbound.log.deliveries.get(principal.teamId, log_id)
    if (row === undefined) throw notFound('delivery log row')
    return presentDeliveryDetail(row, app.outbound.log.singleDeliveries.resendingOf(log_id))
  },
})

/** @throws ProductError invalid_parameter for a range that is too long */
function rangeOf(filters: Static<typeof query>): { from?: number; to?: number } {
  const { from, to } = timeRange(filters)
  if (from !== undefined && to !== undefined && to - from > RANGE_MAX_MS) {
    throw new ProductError('invalid_parameter', 'The range is longer than 366 days. Choose a shorter one.', {
      param: endName(filters),
    })
  }
  return { from, to }
}

/** The filters, without the parameters for pages. */
function filtersOf({ limit: _limit, cursor: _cursor, q, ...filters }: Static<typeof query>): Record<string, unknown> {
  const search = filters.search ?? q
  return Object.fromEntries(Object.entries({ ...filters, search }).filter(([, value]) => value !== undefined))
}

export const emailLogs = [listEmailLogs, readEmailLog]
