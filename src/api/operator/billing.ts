// The credits of a team, for the operator: its balance, recent sums and its ledger.

import { Type } from 'typebox'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import { route } from '../../http/route.ts'
import { Id, listOf, pageQuery } from '../../http/schema.ts'
import { MANAGEMENT_PAGE } from '../management/pages.ts'
import {
  presentTeamBilling,
  presentTransaction,
  TeamBilling,
  TransactionJson,
  TransactionType,
} from '../schemas/billing.ts'
import { searchFilters, searchOf } from '../schemas/list-filters.ts'

const params = Type.Object({ team_id: Id('team') })
/** Days that are summed. */
const PERIOD_DAYS = 30
const ROUTE = { surface: 'operator', access: { as: 'operator' } } as const

const readBilling = route({
  ...ROUTE,
  method: 'GET',
  path: '/teams/{team_id}/billing',
  docs: {
    operation: 'getTeamBilling',
    tag: 'Teams',
    summary: 'Get the balance of a team, and what it used in 30 days',
    description: 'Amounts are decimals in texts, in the currency of the team.',
  },
  params,
  reply: { schema: TeamBilling },
  async handle({ params: { team_id: id }, app }) {
    requireTeam(app, id)
    const { ledger } = app.outbound.billing
    return presentTeamBilling(id, ledger.balance(app.db.read, id), {
      days: PERIOD_DAYS,
      summary: await ledger.summary(id, PERIOD_DAYS),
    })
  },
})

const listTransactions = route({
  ...ROUTE,
  method: 'GET',
  path: '/teams/{team_id}/transactions',
  docs: {
    operation: 'listTeamTransactions',
    tag: 'Teams',
    summary: 'List the credit transactions of a team, newest first',
    description: 'Purchases, adjustments, refunds and the use of each day.',
  },
  params,
  query: pageQuery({ limit: MANAGEMENT_PAGE, type: TransactionType, ...searchFilters('Part of the purpose.') }),
  reply: { schema: listOf(TransactionJson) },
  async handle({ params: { team_id: id }, query, after, app }) {
    requireTeam(app, id)
    const { type, limit } = query
    const page = await app.outbound.billing.ledger.list(id, { type, search: searchOf(query), limit, after })
    return { items: page.items.map(presentTransaction), next: page.next }
  },
})

/** @throws ProductError not_found */
function requireTeam(app: Context, id: string): void {
  if (app.directory.teams.get(id) === undefined) throw notFound('team')
}

export const operatorBilling = [readBilling, listTransactions]
