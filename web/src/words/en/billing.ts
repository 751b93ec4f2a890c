// Words of the page of billing.

import { plural } from '../../base/numbers.ts'

export const billing = {
  title: 'Billing',
  note: 'Credits, and what sending costs',
  summary: 'Credits',
  period: 'Time',
  periods: { '7': '7 days', '30': '30 days', '90': '90 days' },
  purchased: 'Purchased',
  consumed: 'Used',
  count: 'Transactions',
  type: 'Kind',
  search: 'Description or id',
  types: { purchase: 'Purchase', consumption: 'Sending', adjustment: 'Adjustment', refund: 'Refund' },
  columns: { type: 'Kind', description: 'For', amount: 'Amount', balance: 'Balance', time: 'Time' },
  quantity: (recipients: number, price: string) => `${plural(recipients, 'recipient', 'recipients')} at ${price}`,
  transactions: 'Transactions',
  emptyTitle: 'No transaction yet',
  empty: 'Credits that are added and used for sending appear here.',
}
