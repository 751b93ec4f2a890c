// The ledger of a team: every change of its balance, with the resulting balance (docs/design/sending.md §9).

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { conflict, invalid } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Config } from '../../config/config.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { Where } from '../../db/sql-text.ts'
import { integer, key, type RecordOf, type RowOf, table, text, time } from '../../db/table.ts'
import type { OutboundDeps } from '../model/deps.ts'

export const CREDIT_TYPES = ['purchase', 'adjustment', 'refund'] as const
export const TRANSACTION_TYPES = ['purchase', 'consumption', 'adjustment', 'refund'] as const
export type TransactionType = (typeof TRANSACTION_TYPES)[number]

/** Amounts in millionths of the currency. */
/** Amounts are in millionths of the currency. */
export const BILLING_TRANSACTIONS = table('billing_transactions', {
  n: key().hidden(),
  /** `btx_…` */
  id: text(),
  team_id: text().hidden(),
  type: text<TransactionType>(),
  /** Change of the balance; negative for consumption and refunds. */
  amount_micro: integer().as('amount'),
  balance_micro: integer().as('balance_after'),
  currency: text(),
  quantity: integer().orNull(),
  unit_price_micro: integer().orNull().as('unit_price'),
  description: text(),
  reference: text().orNull(),
  created_at: time(),
})
export type Transaction = RecordOf<typeof BILLING_TRANSACTIONS>

export interface Summary {
  /** Purchases and positive adjustments, minus refunds. */
  purchased: bigint
  /** Consumption, as a positive amount. */
  consumed: bigint
  count: number
  currency: string
}

export interface Credit {
  type: (typeof CREDIT_TYPES)[number]
  /** Positive; an adjustment may be negative. */
  amount: number
  description: string
}

export interface TransactionFilter {
  type?: TransactionType
  /** Part of the purpose. */
  search?: string
  /** ms, inclusive. */
  from?: number
  /** ms, exclusive. */
  to?: number
  limit: number
  after: PageKey | null
}

type Entry = Pick<Transaction, 'type' | 'amount' | 'quantity' | 'unitPrice' | 'description'>

export class Ledger {
  readonly #db: Db
  readonly #clock: Clock
  readonly #config: Config

  constructor({ db, clock, config }: Pick<OutboundDeps, 'db' | 'clock' | 'config'>) {
    this.#db = db
    this.#clock = clock
    this.#config = config
  }

  /** Enters a credit of the operator. @throws ProductError validation_error, conflict */
  async credit(teamId: string, credit: Credit): Promise<Transaction> {
    checkCredit(credit)
    return this.#db.write((tx) => this.creditIn(tx, teamId, credit))
  }

  /** Like `credit`, inside a unit of work. @throws ProductError validation_error, conflict */
  creditIn(tx: Tx, teamId: string, credit: Credit): Transaction {
    checkCredit(credit)
    const amount = credit.type === 'refund' ? -credit.amount : credit.amount
    return this.enter(tx, teamId, { ...credit, amount, quantity: null, unitPrice: null })
  }

  /** Enters one change; units of work run one at a time, so the resulting balance is exact. @throws ProductError conflict */
  enter(tx: Tx, teamId: string, entry: Entry): Transaction {
    const balance = this.balance(tx, teamId) + entry.amount
    if (!Number.isSafeInteger(balance)) throw conflict('The resulting balance is too large.')
    tx.run(
      `INSERT INTO billing_accounts (team_id, balance_micro) VALUES (?, ?)
       ON CONFLICT (team_id) DO UPDATE SET balance_micro = excluded.balance_micro`,
      [teamId, balance],
    )
    const made: Transaction = {
      id: newId('transaction'),
      ...entry,
      balanceAfter: balance,
      currency: this.#config.BILLING_CURRENCY,
      reference: null,
      createdAt: this.#clock.now(),
    }
    BILLING_TRANSACTIONS.insert(tx, { ...made, teamId })
    return made
  }

  /** Millionths of the currency; 0 for a team without entries. */
  balance(reader: Reader, teamId: string): number {
    const row = reader.get<{ balance_micro: number }>('SELECT balance_micro FROM billing_accounts WHERE team_id = ?', [
      teamId,
    ])
    return row?.balance_micro ?? 0
  }

  /** @param days the period to sum, counted back from now */
  async summary(teamId: string, days: number): Promise<Summary> {
    // As text: sums may exceed the exact range of a number.
    const row = await this.#db.scan.get<{ purchased: string; consumed: string; count: number }>(
      `SELECT CAST(coalesce(sum(CASE WHEN type IN ('purchase', 'refund') OR type = 'adjustment' AND amount_micro > 0
           THEN amount_micro END), 0) AS TEXT) AS purchased,
         CAST(coalesce(sum(CASE type WHEN 'consumption' THEN -amount_micro END), 0) AS TEXT) AS consumed,
         count(*) AS count
       FROM billing_transactions WHERE team_id = ? AND created_at >= ?`,
      [teamId, this.#clock.now() - days * DAY_MS],
    )
    const { purchased, consumed, count } = row!
    return {
      purchased: BigInt(purchased),
      consumed: BigInt(consumed),
      count,
      currency: this.#config.BILLING_CURRENCY,
    }
  }

  get(teamId: string, id: string): Transaction | undefined {
    return BILLING_TRANSACTIONS.get(this.#db.read, 'WHERE id = ? AND team_id = ?', [id, teamId])
  }

  /** Newest first. */
  async list(teamId: string, { type, search, from, to, limit, after }: TransactionFilter): Promise<Page<Transaction>> {
    const where = new Where().add('team_id = ?', teamId)
    if (type !== undefined) where.add('type = ?', type)
    if (search !== undefined) where.add('instr(lower(description), ?) > 0', search.toLowerCase())
    if (from !== undefined) where.add('created_at >= ?', from)
    if (to !== undefined) where.add('created_at < ?', to)
    if (after !== null) where.add('(created_at, n) < (?, ?)', ...after)
    // These filters may scan many rows.
    const reader = type === undefined && search === undefined ? this.#db.read : this.#db.scan
    const rows = await reader.all<RowOf<typeof BILLING_TRANSACTIONS> & { n: number }>(
      `SELECT n, ${BILLING_TRANSACTIONS.columns} FROM billing_transactions WHERE ${where.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
      [...where.values, limit + 1],
    )
    return pageOf(rows, limit, (row) => [row.created_at, row.n], BILLING_TRANSACTIONS.record)
  }
}

function checkCredit({ type, amount }: Credit): void {
  if (amount === 0) throw invalid('amount', 'too_small', 'The amount must not be zero.')
  if (amount < 0 && type !== 'adjustment') {
    throw invalid('amount', 'too_small', `The amount of a ${type} is positive; only an adjustment has a sign.`)
  }
}
