// Quotas: what is counted of a mailbox, and the limits its owner set to be warned by (decisions §10.9). What is used is counted elsewhere.

import type { Clock } from '../base/clock.ts'
import { invalid, notFound } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import { type Accounts, readState } from './accounts.ts'
import type { Change, ChangeLedger, Changes } from './changes.ts'
import type { Account } from './records.ts'

/** What is counted: bytes of messages, messages, and recipients written to within a day. */
export const QUOTA_NAMES = ['storage', 'messages', 'daily_recipients'] as const
export type QuotaName = (typeof QUOTA_NAMES)[number]

export interface Quota {
  /** `quo_…` */
  id: string
  name: QuotaName
  softLimit: number | null
  warnLimit: number | null
  /** When a limit last changed, ms. */
  updatedAt: number
}

/** What is left out stays; null takes the limit away. */
export interface QuotaChange {
  softLimit?: number | null
  warnLimit?: number | null
}

interface Row {
  n: number
  id: string
  name: QuotaName
  soft_limit: number | null
  warn_limit: number | null
  updated_at: number
}

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
}

export class Quotas {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Makes the quotas of a new account; the caller tells the ledger. */
  async open(tx: Tx, account: number): Promise<Change[]> {
    const told: Change[] = []
    for (const name of QUOTA_NAMES) {
      const id = newId('quota')
      const n = await tx.insert('account_quotas', { id, account, name, updated_at: this.#deps.clock.now() })
      told.push({ type: 'quotas', n, object: id, kind: 'created' })
    }
    return told
  }

  /** In the order of {@link QUOTA_NAMES}. */
  async list(account: Pick<Account, 'n'>, reader: Reader = this.#deps.db.read): Promise<Quota[]> {
    return (await rowsOf(reader, account.n)).map(present)
  }

  /**
   * Sets the limits of the owner.
   * @param hardOf what the appliance allows of it, null where it sets no bound
   * @throws ProductError not_found; validation_error unless warn < soft < hard
   */
  async update(
    account: Account,
    id: string,
    change: QuotaChange,
    hardOf: (name: QuotaName) => number | null,
  ): Promise<void> {
    const { db, clock } = this.#deps
    await db.write(async (tx) => {
      const row = (await rowsOf(tx, account.n)).find((one) => one.id === id)
      if (row === undefined) throw notFound('quota')
      const soft = change.softLimit === undefined ? row.soft_limit : change.softLimit
      const warn = change.warnLimit === undefined ? row.warn_limit : change.warnLimit
      checkOrder({ warn, soft, hard: hardOf(row.name) })
      await tx.run('UPDATE account_quotas SET soft_limit = ?, warn_limit = ?, updated_at = ? WHERE n = ?', [
        ...[soft, warn],
        ...[clock.now(), row.n],
      ])
      await this.#tell(tx, account.n, row)
    })
  }

  /** The room of a mailbox was changed by whoever administers it; nothing for one that has no mail side yet. */
  async noteRoom(tx: Tx, mailboxId: string): Promise<void> {
    const { accounts, clock } = this.#deps
    const account = await accounts.byMailbox(mailboxId, tx)
    if (account === undefined) return
    const row = (await rowsOf(tx, account.n)).find(({ name }) => name === 'storage')!
    await tx.run('UPDATE account_quotas SET updated_at = ? WHERE n = ?', [clock.now(), row.n])
    await this.#tell(tx, account.n, row)
  }

  /**
   * The changes of quotas. Usage moves the state without a word in the ledger, so that a delivery costs no more: where the state
   * moved, every quota may have.
   * @returns `updatedProperties` is `["used"]` when no limit was touched
   * @throws ProductError as {@link ChangeLedger.since}
   */
  async changesSince(
    account: Account,
    since: string,
    max: number,
  ): Promise<Changes & { updatedProperties: string[] | null }> {
    const told = await this.#deps.changes.since(account, 'quotas', since, max)
    const isLater = readState('quotas', told.newState)! > readState('quotas', since)!
    if (!isLater || told.hasMoreChanges) return { ...told, updatedProperties: null }
    const others = (await this.list(account)).map(({ id }) => id).filter((id) => !told.created.includes(id))
    const onlyUsed = told.updated.length === 0 && others.length > 0
    return { ...told, updated: others, updatedProperties: onlyUsed ? ['used'] : null }
  }

  /** Forgets the quotas of an account that ends for good. @returns how many there were */
  async purgeIn(tx: Tx, account: Pick<Account, 'n'>): Promise<number> {
    const { changes } = await tx.run('DELETE FROM account_quotas WHERE account = ?', [account.n])
    return changes
  }

  async #tell(tx: Tx, account: number, { n, id }: Row): Promise<void> {
    const { accounts, changes, clock } = this.#deps
    const seq = await accounts.advance(tx, account, ['quotas'], { bytes: 0, messages: 0 })
    await changes.record(tx, account, seq, [{ type: 'quotas', n, object: id, kind: 'updated' }], clock.now())
  }
}

/** A limit that would be reached after one that stands above it warns nobody. @throws ProductError validation_error */
function checkOrder({ warn, soft, hard }: Record<'warn' | 'soft' | 'hard', number | null>): void {
  const above = (low: number | null, high: number | null) => low !== null && high !== null && low >= high
  const wrong = (field: string, than: string) => invalid(field, 'too_big', `${field} must lie below ${than}.`)
  if (above(soft, hard)) throw wrong('soft_limit', 'the hard limit')
  if (above(warn, soft)) throw wrong('warn_limit', 'soft_limit')
  if (above(warn, hard)) throw wrong('warn_limit', 'the hard limit')
}

async function rowsOf(reader: Reader, account: number): Promise<Row[]> {
  return reader.all<Row>(
    'SELECT n, id, name, soft_limit, warn_limit, updated_at FROM account_quotas WHERE account = ? ORDER BY n',
    [account],
  )
}

function present(row: Row): Quota {
  return {
    id: row.id,
    name: row.name,
    softLimit: row.soft_limit,
    warnLimit: row.warn_limit,
    updatedAt: row.updated_at,
  }
}
