// The delivery log of a team: what became of every mail that was accepted.

import { type Static, Type } from 'typebox'
import { notFound, ProductError } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { FilterId, Id, listOf, pageQuery, parseTime, TimeQuery } from '../../http/schema.ts'
import {
  DeliveryLog,
  DeliveryLogDetail,
  DeliveryStatus,
  presentDelivery,
  presentDeliveryDetail,
} from '../schemas/delivery-log.ts'
import { LOG_PAGE } from './pages.ts'

const RANGE_MAX_MS = 366 * 24 * 60 * 60 * 1000
const Search = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Words, all of which occur in the addresses, the subject or the message id.',
})

const query = pageQuery({
  limit: LOG_PAGE,
  status: DeliveryStatus,
  from_date: { ...TimeQuery, description: 'Accepted at or after: RFC 3339 time, or YYYY-MM-DD meaning 00:00:00Z.' },
  to_date: { ...TimeQuery, description: 'Accepted before: RFC 3339 time, or YYYY-MM-DD meaning the end of that day.' },
  provider_id: { ...FilterId('provider'), description: 'Mail that went through this sending account.' },
  mailbox_id: { ...Id('mailbox'), description: 'Mail sent from this mailbox; 404 when it is not of the team.' },
  message_id: { ...FilterId('email'), description: 'The recipients of one mail.' },
  domain: Type.String({ minLength: 1, maxLength: 253, description: 'Domain of the recipient.' }),
  search: Search,
  q: { ...Search, description: 'The same as `search`.' },
})

const listEmailLogs = route({
  method: 'GET',
  path: '/emails/logs',
  operation: 'listEmailLogs',
  tag: 'Delivery log',
  summary: 'Lists what became of the mail that was accepted, newest first.',
  description:
    'A row for each recipient of each mail. From and to are at most 366 days apart. Rows are kept for the days of ' +
    '`LOG_RETENTION_DAYS`. `meta.filters` tells what was asked for.',
  as: 'team',
  permission: 'logs.read',
  query,
  reply: listOf(DeliveryLog),
  async handle({ query: asked, after, principal, app }) {
    const { mailboxes } = app.directory
    const { mailbox_id: mailboxId, limit } = asked
    if (mailboxId !== undefined && !(await mailboxes.wasOf(principal.teamId, mailboxId))) throw notFound('mailbox')
    const filter = {
      ...rangeOf(asked),
      mailboxId,
      status: asked.status,
      providerId: asked.provider_id,
      emailId: asked.message_id,
      domain: asked.domain,
      search: asked.search ?? asked.q,
    }
    const page = await app.outbound.log.list(principal.teamId, filter, { limit, after })
    return { items: page.items.map(presentDelivery), next: page.next, meta: { filters: filtersOf(asked) } }
  },
})

const readEmailLog = route({
  method: 'GET',
  path: '/emails/logs/{log_id}',
  operation: 'getEmailLog',
  tag: 'Delivery log',
  summary: 'Shows one row with everything that happened, in order.',
  as: 'team',
  permission: 'logs.read',
  params: Type.Object({ log_id: Id('deliveryLog') }),
  reply: DeliveryLogDetail,
  etag: true,
  async handle({ params: { log_id }, principal, app }) {
    const row = await app.outbound.log.get(principal.teamId, log_id)
    if (row === undefined) throw notFound('delivery log row')
    return presentDeliveryDetail(row)
  },
})

/** @throws ProductError invalid_parameter for a range that is too long */
function rangeOf({ from_date, to_date }: Static<typeof query>): { from?: number; to?: number } {
  const from = from_date === undefined ? undefined : parseTime(from_date)
  const to = to_date === undefined ? undefined : parseTime(to_date, { endOfDay: true })
  if (from !== undefined && to !== undefined && to - from > RANGE_MAX_MS) {
    throw new ProductError('invalid_parameter', 'The range must be at most 366 days.', { param: 'to_date' })
  }
  return { from, to }
}

/** What was asked for, without what pages are made with. */
function filtersOf({ limit: _limit, cursor: _cursor, q, ...filters }: Static<typeof query>): Record<string, unknown> {
  const search = filters.search ?? q
  return Object.fromEntries(Object.entries({ ...filters, search }).filter(([, value]) => value !== undefined))
}

export const emailLogs = [listEmailLogs, readEmailLog]
