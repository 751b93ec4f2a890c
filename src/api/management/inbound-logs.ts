// The inbound log of a team: the outcome of every received message.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery, parseTime, TimeQuery } from '../../http/schema.ts'
import {
  InboundLogDetail,
  InboundLogJson,
  InboundStatus,
  presentInbound,
  presentInboundDetail,
} from '../schemas/inbound-log.ts'
import { LOG_PAGE } from './pages.ts'

const listInboundLogs = route({
  method: 'GET',
  path: '/inbound/logs',
  operation: 'listInboundLogs',
  tag: 'Inbound log',
  summary: 'List the inbound log, newest first',
  description:
    'One row for each recipient of each message, rejected ones included. Above 20 unknown recipients in a minute from one ' +
    'address, further ones are counted and not listed. Rows are kept for `LOG_RETENTION_DAYS`.',
  as: 'team',
  permission: 'logs.read',
  query: pageQuery({
    limit: LOG_PAGE,
    status: InboundStatus,
    from_date: { ...TimeQuery, description: 'At or after: RFC 3339 time, or YYYY-MM-DD meaning 00:00:00Z.' },
    to_date: { ...TimeQuery, description: 'Before: RFC 3339 time, or YYYY-MM-DD meaning the end of that day.' },
    mailbox_id: { ...Id('mailbox'), description: 'Messages to this mailbox; 404 when it is not of the team.' },
    domain: Type.String({ minLength: 1, maxLength: 253, description: 'Domain of the recipient.' }),
    search: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Words that all occur in the envelope addresses, From, subject or reason.',
    }),
  }),
  reply: listOf(InboundLogJson),
  async handle({ query, after, principal, app }) {
    const { status, mailbox_id: mailboxId, domain, search, limit } = query
    const { mailboxes } = app.directory
    if (mailboxId !== undefined && !(await mailboxes.wasOf(principal.teamId, mailboxId))) throw notFound('mailbox')
    const from = query.from_date === undefined ? undefined : parseTime(query.from_date)
    const to = query.to_date === undefined ? undefined : parseTime(query.to_date, { endOfDay: true })
    const filter = { status, from, to, mailboxId, domain, search }
    const page = await app.store.inboundLog.list(principal.teamId, filter, { limit, after })
    return { items: page.items.map(presentInbound), next: page.next }
  },
})

const readInboundLog = route({
  method: 'GET',
  path: '/inbound/logs/{log_id}',
  operation: 'getInboundLog',
  tag: 'Inbound log',
  summary: 'Get an inbound log row with the evidence for its outcome',
  description:
    'DNS queries with their answers, signatures with result and reason, the matching filter rule, the tests of the spam score, ' +
    'and the thread of the message.',
  as: 'team',
  permission: 'logs.read',
  params: Type.Object({ log_id: Id('inboundLog') }),
  reply: InboundLogDetail,
  etag: true,
  async handle({ params: { log_id }, principal, app }) {
    const row = await app.store.inboundLog.get(principal.teamId, log_id)
    if (row === undefined) throw notFound('inbound log row')
    return presentInboundDetail(row)
  },
})

export const inboundLogs = [listInboundLogs, readInboundLog]
