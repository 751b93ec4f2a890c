// Quotas (RFC 9425): soft and warning limits set by the owner of a mailbox (docs/design/mailbox.md §9). Usage is counted in the account.

import type { Clock } from '../../base/clock.ts'
import { invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { integer, key, type RecordOf, table, text, time } from '../../db/table.ts'
import { type Accounts, readState } from '../rows/accounts.ts'
import type { Change, ChangeLedger, Changes } from '../rows/changes.ts'
import type { Account } from '../rows/records.ts'

/** Bytes of messages, number of messages, and recipients within a day. */
export const QUOTA_NAMES = ['storage', 'messages', 'daily_recipients'] as const
export type QuotaName = (typeof QUOTA_NAMES)[number]

export const ACCOUNT_QUOTAS = table('account_quotas', {
  n: key().hidden(),
  id: text(),
  account: integer().hidden(),
  name: text<QuotaName>(),
  soft_limit: integer().orNull(),
  warn_limit: integer().orNull(),
  /** Of the last change of a limit. */
  updated_at: time(),
})
const NUMBERED = ACCOUNT_QUOTAS.and('n')
type NumberedQuota = RecordOf<typeof NUMBERED>

/** The limits of the owner. */
export type Quota = RecordOf<typeof ACCOUNT_QUOTAS>

/** Members left out are not changed; null removes the limit. */
export interface QuotaChange {
  softLimit?: number | null
  warnLimit?: number | null
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

  /** Creates the quotas of a new account; the caller records the changes in the ledger. */
  createAll(tx: Tx, account: number): Change[] {
    const created: Change[] = []
    for (const name of QUOTA_NAMES) {
      const id = newId('quota')
      const n = ACCOUNT_QUOTAS.insert(tx, { id, account, name, updatedAt: this.#deps.clock.now() })
      created.push({ type: 'quotas', n, object: id, kind: 'created' })
    }
    return created
  }

  /** In the order of {@link QUOTA_NAMES}. */
  list(account: Pick<Account, 'n'>, reader: Reader = this.#deps.db.read): Quota[] {
    return rowsOf(reader, account.n).map(({ n: _, ...quota }) => quota)
  }

  /**
   * Sets the owner's limits.
   * @param hardOf the hard limit of a quota; null: none
   * @throws ProductError not_found; validation_error unless warn < soft < hard
   */
  async update(
    account: Account,
    id: string,
    change: QuotaChange,
    hardOf: (name: QuotaName) => number | null,
  ): Promise<void> {
    const { db, clock } = this.#deps
    await db.write((tx) => {
      const row = rowsOf(tx, account.n).find((candidate) => candidate.id === id)
      if (row === undefined) throw notFound('quota')
      const soft = change.softLimit === undefined ? row.softLimit : change.softLimit
      const warn = change.warnLimit === undefined ? row.warnLimit : change.warnLimit
      checkOrder({ warn, soft, hard: hardOf(row.name) })
      const limits = { softLimit: soft, warnLimit: warn, updatedAt: clock.now() }
      ACCOUNT_QUOTAS.update(tx, limits, 'WHERE n = ?', [row.n])
      this.#recordChange(tx, account.n, row)
    })
  }

  /** Records that the storage limit of a mailbox was changed by its team; does nothing without an account. */
  recordStorageLimitChange(tx: Tx, mailboxId: string): void {
    const { accounts, clock } = this.#deps
    const account = accounts.byMailbox(mailboxId, tx)
    if (account === undefined) return
    const row = rowsOf(tx, account.n).find(({ name }) => name === 'storage')!
    tx.run('UPDATE account_quotas SET updated_at = ? WHERE n = ?', [clock.now(), row.n])
    this.#recordChange(tx, account.n, row)
  }

  /**
   * Changes of quotas. To keep deliveries cheap, usage advances the state without a row in the ledger: if the state advanced, any
   * quota may have changed.
   * @returns `updatedProperties` is `["used"]` if no limit changed
   * @throws ProductError as {@link ChangeLedger.since}
   */
  changesSince(account: Account, since: string, max: number): Changes & { updatedProperties: string[] | null } {
    const recorded = this.#deps.changes.since(account, 'quotas', since, max)
    const isLater = readState('quotas', recorded.newState)! > readState('quotas', since)!
    if (!isLater || recorded.hasMoreChanges) return { ...recorded, updatedProperties: null }
    const others = this.list(account)
      .map(({ id }) => id)
      .filter((id) => !recorded.created.includes(id))
    const onlyUsed = recorded.updated.length === 0 && others.length > 0
    return { ...recorded, updated: others, updatedProperties: onlyUsed ? ['used'] : null }
  }

  /** Deletes the quotas of a deleted account. @returns how many. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    const { changes } = tx.run('DELETE FROM account_quotas WHERE account = ?', [account.n])
    return changes
  }

  #recordChange(tx: Tx, account: number, { n, id }: NumberedQuota): void {
    const { accounts, changes, clock } = this.#deps
    const seq = accounts.advance(tx, account, ['quotas'], { bytes: 0, messages: 0 })
    changes.record(tx, account, seq, [{ type: 'quotas', n, object: id, kind: 'updated' }], clock.now())
  }
}

/** Checks warn < soft < hard: otherwise a lower limit would never take effect. @throws ProductError validation_error */
function checkOrder({ warn, soft, hard }: Record<'warn' | 'soft' | 'hard', number | null>): void {
  const above = (low: number | null, high: number | null) => low !== null && high !== null && low >= high
  const tooBig = (field: string, than: string) => invalid(field, 'too_big', `${field} must be less than ${than}.`)
  if (above(soft, hard)) throw tooBig('soft_limit', 'the hard limit')
  if (above(warn, soft)) throw tooBig('warn_limit', 'soft_limit')
  if (above(warn, hard)) throw tooBig('warn_limit', 'the hard limit')
}

function rowsOf(reader: Reader, account: number): NumberedQuota[] {
  return NUMBERED.all(reader, 'WHERE account = ? ORDER BY n', [account])
}
