// Credits and usage of a team (docs/design/sending.md §9).

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery, Words } from '../../http/schema.ts'
import {
  BillingSummary,
  presentSummary,
  presentTransaction,
  TransactionJson,
  TransactionType,
} from '../schemas/billing.ts'
import { replacedBy, timeFilters, timeRange } from '../schemas/list-filters.ts'
import { MANAGEMENT_PAGE } from './pages.ts'

const PERIODS = ['7', '30', '90'] as const

const readSummary = route({
  method: 'GET',
  path: '/billing/summary',
  docs: {
    operation: 'getBillingSummary',
    tag: 'Billing',
    summary: 'Get a summary of recent credits and usage',
    description: 'Amounts are decimals in texts, in the currency of the team.',
  },
  access: { as: 'team', permission: 'billing.read' },
  query: Type.Object({
    period_days: Type.Optional(Words(PERIODS, 'Days back from now; default 30.')),
    days: Type.Optional(replacedBy('period_days', Words(PERIODS), ' `period_days` takes precedence.')),
  }),
  reply: { schema: BillingSummary },
  async handle({ query, principal, app }) {
    const days = Number(query.period_days ?? query.days ?? 30)
    return presentSummary(days, await app.outbound.billing.ledger.summary(principal.teamId, days))
  },
})

const listTransactions = route({
  method: 'GET',
  path: '/billing/transactions',
  docs: {
    operation: 'listBillingTransactions',
    tag: 'Billing',
    summary: 'List the credit transactions of the team, newest first',
    description: 'Purchases, adjustments, refunds and the use of each day.',
  },
  access: { as: 'team', permission: 'billing.read' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    type: TransactionType,
    ...timeFilters('Booked'),
  }),
  reply: { schema: listOf(TransactionJson) },
  async handle({ query, after, principal, app }) {
    const { type, limit } = query
    const page = await app.outbound.billing.ledger.list(principal.teamId, { type, ...timeRange(query), limit, after })
    return { items: page.items.map(presentTransaction), next: page.next }
  },
})

const readTransaction = route({
  method: 'GET',
  path: '/billing/transactions/{transaction_id}',
  docs: {
    operation: 'getBillingTransaction',
    tag: 'Billing',
    summary: 'Get a credit transaction',
    description: 'With the balance after it.',
  },
  access: { as: 'team', permission: 'billing.read' },
  params: Type.Object({ transaction_id: Id('transaction') }),
  reply: { schema: TransactionJson, etag: true },
  handle({ params: { transaction_id }, principal, app }) {
    const found = app.outbound.billing.ledger.get(principal.teamId, transaction_id)
    if (found === undefined) throw notFound('transaction')
    return presentTransaction(found)
  },
})

export const billing = [readSummary, listTransactions, readTransaction]
