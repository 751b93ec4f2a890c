// The columns of credit transactions, for the team and for the operator.

import type { BillingTransaction } from '../api/types.ts'
import { money } from '../base/numbers.ts'
import { Foreign } from '../parts/foreign.tsx'
import { Time } from '../parts/marks.tsx'
import type { Column } from '../parts/table.tsx'
import { billing } from '../words/en/billing.ts'

interface TransactionWords {
  types: Readonly<Record<BillingTransaction['type'], string>>
  columns: Readonly<Record<'type' | 'description' | 'amount' | 'balance' | 'time', string>>
}

export function transactionColumns({ types, columns }: TransactionWords): readonly Column<BillingTransaction>[] {
  return [
    { head: columns.type, cell: ({ type }) => types[type] },
    {
      head: columns.description,
      cell: ({ description, quantity, unit_price: price, currency }) =>
        quantity === null || price === null ? (
          <Foreign>{description}</Foreign>
        ) : (
          billing.quantity(quantity, money(price, currency))
        ),
      class: 'cut soft line',
    },
    { head: columns.amount, cell: ({ amount, currency }) => money(amount, currency), class: 'number' },
    {
      head: columns.balance,
      cell: ({ balance_after: balance, currency }) => money(balance, currency),
      class: 'number soft',
    },
    { head: columns.time, cell: ({ created_at: at }) => <Time at={at} />, class: 'soft corner' },
  ]
}
