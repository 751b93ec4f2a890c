// Credit transactions of a team, and their summary.

import { type Static, Type } from 'typebox'
import { presenterOf } from '../../http/present.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import { type Summary, TRANSACTION_TYPES, type Transaction } from '../../outbound/billing/ledger.ts'
import { decimal } from '../../outbound/billing/money.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

const Decimal = (description: string) =>
  Type.String({ pattern: '^-?\\d+\\.\\d{6}$', description, examples: ['12.500000'] })
const Currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'Of ISO 4217.', examples: ['USD'] })

export const TransactionType = Words(
  TRANSACTION_TYPES,
  '`consumption`: sent messages, one row per UTC hour and account; the operator adds the others.',
)

export const TransactionJson = record('BillingTransaction', 'A credit transaction of the team.', {
  id: Id('transaction'),
  type: TransactionType,
  amount: Decimal('Change of the balance; negative for consumption and refunds.'),
  balance_after: Decimal('The balance after it.'),
  currency: Currency,
  quantity: Nullable(Type.Integer({ description: 'Recipients sent to; null for other types than consumption.' })),
  unit_price: Nullable(Decimal('Price of one recipient; null for other types than consumption.')),
  description: Type.String({ description: 'Purpose of the transaction.' }),
  reference: Nullable(Type.String({ description: '`eml_…` or `dlog_…` it belongs to.' })),
  created_at: TimeOf('When it was created.'),
})
export type TransactionJson = Static<typeof TransactionJson>

export const BillingSummary = record('BillingSummary', 'Credits bought and used within a range that ends now.', {
  period_days: Type.Integer({ description: 'Length of the range.' }),
  total_purchased: Decimal('Purchases and positive adjustments less refunds.'),
  total_consumed: Decimal('Cost of sent messages.'),
  transaction_count: Type.Integer({ description: 'Transactions within the range.' }),
  currency: Currency,
})

export const TeamBilling = record('TeamBilling', 'The credits of a team.', {
  team_id: Id('team'),
  balance: Decimal('What is left; negative for a team that owes.'),
  summary: BillingSummary,
})

/** @param balance millionths */
export function presentTeamBilling(
  teamId: string,
  balance: number,
  { days, summary }: { days: number; summary: Summary },
): Static<typeof TeamBilling> {
  return { team_id: teamId, balance: decimal(balance), summary: presentSummary(days, summary) }
}

export const presentTransaction = presenterOf<Transaction>()(TransactionJson, {
  amount: ({ amount }) => decimal(amount),
  balance_after: ({ balanceAfter }) => decimal(balanceAfter),
  unit_price: ({ unitPrice }) => (unitPrice === null ? null : decimal(unitPrice)),
})

export function presentSummary(days: number, summary: Summary): Static<typeof BillingSummary> {
  return {
    period_days: days,
    total_purchased: decimal(summary.purchased),
    total_consumed: decimal(summary.consumed),
    transaction_count: summary.count,
    currency: summary.currency,
  }
}
