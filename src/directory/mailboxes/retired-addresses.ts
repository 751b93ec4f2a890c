// Addresses that ended with their mailbox or alias: they may be taken again, but no pattern of the domain matches them.

import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { type Page, type PageKey, pageOf } from '../../db/page.ts'
import { key, type RecordOf, table, text, time } from '../../db/table.ts'

export const RETIRED_ADDRESSES = table('retired_addresses', {
  n: key(),
  domain_id: text().hidden(),
  email: text(),
  retired_at: time(),
})

export type RetiredAddress = Omit<RecordOf<typeof RETIRED_ADDRESSES>, 'n'>

export class RetiredAddresses {
  readonly #deps: { db: Db; clock: Clock }

  constructor(deps: { db: Db; clock: Clock }) {
    this.#deps = deps
  }

  /** The retired addresses of a domain, newest first. */
  list(domainId: string, { limit, after }: { limit: number; after: PageKey | null }): Page<RetiredAddress> {
    const { read } = this.#deps.db
    const rows = RETIRED_ADDRESSES.all(
      read,
      `WHERE domain_id = ?${after === null ? '' : ' AND n < ?'} ORDER BY n DESC LIMIT ?`,
      [domainId, ...(after ?? []), limit + 1],
    )
    return pageOf(
      rows,
      limit,
      ({ n }) => [n],
      ({ email, retiredAt }) => ({ email, retiredAt }),
    )
  }

  /** @param email lower-case */
  has(domainId: string, email: string): boolean {
    const sql = 'SELECT 1 AS found FROM retired_addresses WHERE domain_id = ? AND email = ?'
    return this.#deps.db.read.get(sql, [domainId, email]) !== undefined
  }

  /** Retires an address in the unit of work that ends its mailbox or alias. */
  addIn(tx: Tx, domainId: string, email: string): void {
    releaseRetired(tx, domainId, email)
    RETIRED_ADDRESSES.insert(tx, { domainId, email, retiredAt: this.#deps.clock.now() })
  }
}

/** An address is taken again. */
export function releaseRetired(tx: Tx, domainId: string, email: string): void {
  tx.run('DELETE FROM retired_addresses WHERE domain_id = ? AND email = ?', [domainId, email])
}

/** Deletes the retired addresses of a domain, in the unit of work that deletes the domain. */
export function dropRetiredOf(tx: Tx, domainId: string): void {
  tx.run('DELETE FROM retired_addresses WHERE domain_id = ?', [domainId])
}
