// The money of a team: one change of its balance, and the sum of many.

import { type Static, Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { Id, Nullable, Words } from '../../http/schema.ts'
import {
  type Summary,
  TRANSACTION_TYPES,
  type Transaction as TransactionRecord,
} from '../../outbound/billing/ledger.ts'
import { decimal } from '../../outbound/billing/money.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

const Decimal = (description: string) =>
  Type.String({ pattern: '^-?\\d+\\.\\d{6}$', description, examples: ['12.500000'] })
const Currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'Of ISO 4217.', examples: ['USD'] })

export const TransactionType = Words(
  TRANSACTION_TYPES,
  '`consumption`: mail that was sent, one row per UTC hour and account; the others are entered by the operator.',
)

export const Transaction = record('BillingTransaction', 'One change of the balance of the team.', {
  id: Id('transaction'),
  type: TransactionType,
  amount: Decimal('What the balance grew by; negative for consumption and refunds.'),
  balance_after: Decimal('The balance after it.'),
  currency: Currency,
  quantity: Nullable(Type.Integer({ description: 'Recipients sent to; null where nothing was sent.' })),
  unit_price: Nullable(Decimal('What one of them cost; null where nothing was sent.')),
  description: Type.String({ description: 'What it was for.' }),
  reference: Nullable(Type.String({ description: '`eml_…` or `dlog_…` it belongs to.' })),
  created_at: TimeOf('When it was entered.'),
})
export type Transaction = Static<typeof Transaction>

export const BillingSummary = record('BillingSummary', 'What was bought and used within a span that ends now.', {
  period_days: Type.Integer({ description: 'The length of the span.' }),
  total_purchased: Decimal('Purchases and positive adjustments less refunds.'),
  total_consumed: Decimal('What sent mail cost.'),
  transaction_count: Type.Integer({ description: 'Transactions within the span.' }),
  currency: Currency,
})

export function presentTransaction(made: TransactionRecord): Transaction {
  return {
    id: made.id,
    type: made.type,
    amount: decimal(made.amount),
    balance_after: decimal(made.balanceAfter),
    currency: made.currency,
    quantity: made.quantity,
    unit_price: made.unitPrice === null ? null : decimal(made.unitPrice),
    description: made.description,
    reference: made.reference,
    created_at: isoTime(made.createdAt),
  }
}

export function presentSummary(days: number, summary: Summary): Static<typeof BillingSummary> {
  return {
    period_days: days,
    total_purchased: decimal(summary.purchased),
    total_consumed: decimal(summary.consumed),
    transaction_count: summary.count,
    currency: summary.currency,
  }
}
