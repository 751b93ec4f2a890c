// Credits and usage of a team (decisions §7.1).

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery, parseTime, TimeQuery, Words } from '../../http/schema.ts'
import {
  BillingSummary,
  presentSummary,
  presentTransaction,
  TransactionJson,
  TransactionType,
} from '../schemas/billing.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const PERIODS = ['7', '30', '90'] as const

const readSummary = route({
  method: 'GET',
  path: '/billing/summary',
  operation: 'getBillingSummary',
  tag: 'Billing',
  summary: 'Get a summary of recent credits and usage',
  as: 'team',
  permission: 'billing.read',
  query: Type.Object({
    period_days: Type.Optional(Words(PERIODS, 'Days back from now; default 30.')),
    days: Type.Optional(Words(PERIODS, 'Alias of `period_days`, which takes precedence.')),
  }),
  reply: BillingSummary,
  async handle({ query, principal, app }) {
    const days = Number(query.period_days ?? query.days ?? 30)
    return presentSummary(days, await app.outbound.ledger.summary(principal.teamId, days))
  },
})

const listTransactions = route({
  method: 'GET',
  path: '/billing/transactions',
  operation: 'listBillingTransactions',
  tag: 'Billing',
  summary: 'List the credit transactions of the team, newest first',
  as: 'team',
  permission: 'billing.read',
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    type: TransactionType,
    from_date: { ...TimeQuery, description: 'At or after: RFC 3339 time, or YYYY-MM-DD meaning 00:00:00Z.' },
    to_date: { ...TimeQuery, description: 'Before: RFC 3339 time, or YYYY-MM-DD meaning the end of that day.' },
  }),
  reply: listOf(TransactionJson),
  async handle({ query, after, principal, app }) {
    const { type, limit } = query
    const from = query.from_date === undefined ? undefined : parseTime(query.from_date)
    const to = query.to_date === undefined ? undefined : parseTime(query.to_date, { endOfDay: true })
    const page = await app.outbound.ledger.list(principal.teamId, { type, from, to, limit, after })
    return { items: page.items.map(presentTransaction), next: page.next }
  },
})

const readTransaction = route({
  method: 'GET',
  path: '/billing/transactions/{transaction_id}',
  operation: 'getBillingTransaction',
  tag: 'Billing',
  summary: 'Get a credit transaction',
  as: 'team',
  permission: 'billing.read',
  params: Type.Object({ transaction_id: Id('transaction') }),
  reply: TransactionJson,
  etag: true,
  async handle({ params: { transaction_id }, principal, app }) {
    const found = await app.outbound.ledger.get(principal.teamId, transaction_id)
    if (found === undefined) throw notFound('transaction')
    return presentTransaction(found)
  },
})

export const billing = [readSummary, listTransactions, readTransaction]
