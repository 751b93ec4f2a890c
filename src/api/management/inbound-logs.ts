// The inbound log of a team: the outcome of every received message.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import {
  InboundLogDetail,
  InboundLogJson,
  InboundReason,
  InboundStatus,
  presentInbound,
  presentInboundDetail,
} from '../schemas/inbound-log.ts'
import { searchFilters, searchOf, timeFilters, timeRange } from '../schemas/list-filters.ts'
import { LOG_PAGE } from './pages.ts'

const listInboundLogs = route({
  method: 'GET',
  path: '/inbound/logs',
  docs: {
    operation: 'listInboundLogs',
    tag: 'Inbound log',
    summary: 'List the inbound log, newest first',
    description:
      'One row for each recipient of each message, rejected ones included. Above 20 unknown recipients in a minute from one ' +
      'address, further ones are counted and not listed. Rows are kept for `LOG_RETENTION_DAYS`.',
  },
  access: { as: 'team', permission: 'logs.read' },
  query: pageQuery({
    limit: LOG_PAGE,
    status: InboundStatus,
    ...timeFilters('Received'),
    mailbox_id: { ...Id('mailbox'), description: 'Messages to this mailbox; 404 when it is not of the team.' },
    reason: { ...InboundReason, description: 'Why the message was not stored, or is in Junk.' },
    spam_reason: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[a-z_]+$',
      description: 'Name of a test of the spam score that counted, such as `brand_claimed`.',
    }),
    domain: Type.String({ minLength: 1, maxLength: 253, description: 'Domain of the recipient.' }),
    ...searchFilters('Words that all occur in the envelope addresses, From, subject or reason.'),
  }),
  reply: { schema: listOf(InboundLogJson) },
  async handle({ query, after, principal, app }) {
    const { status, mailbox_id: mailboxId, domain, reason, spam_reason: spamReason, limit } = query
    const { mailboxes } = app.directory
    if (mailboxId !== undefined && !mailboxes.wasOf(principal.teamId, mailboxId)) throw notFound('mailbox')
    const filter = { status, ...timeRange(query), mailboxId, domain, reason, spamReason, search: searchOf(query) }
    const page = await app.store.log.inbound.list(principal.teamId, filter, { limit, after })
    return { items: page.items.map(presentInbound), next: page.next }
  },
})

const readInboundLog = route({
  method: 'GET',
  path: '/inbound/logs/{log_id}',
  docs: {
    operation: 'getInboundLog',
    tag: 'Inbound log',
    summary: 'Get an inbound log row with the evidence for its outcome',
    description:
      'DNS queries with their answers, signatures with result and reason, the matching filter rule, the tests of the spam score, ' +
      'and the thread of the message.',
  },
  access: { as: 'team', permission: 'logs.read' },
  params: Type.Object({ log_id: Id('inboundLog') }),
  reply: { schema: InboundLogDetail, etag: true },
  handle({ params: { log_id }, principal, app }) {
    const row = app.store.log.inbound.get(principal.teamId, log_id)
    if (row === undefined) throw notFound('inbound log row')
    return presentInboundDetail(row)
  },
})

export const inboundLogs = [listInboundLogs, readInboundLog]
