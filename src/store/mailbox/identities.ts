// Identities (RFC 8621 §6): sender addresses and signatures of a mailbox (docs/design/mailbox.md §8).

import type { Clock } from '../../base/clock.ts'
import { conflict, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { flag, integer, json, type RecordOf, table, text, time } from '../../db/table.ts'
import { untagged } from '../../mime/local-part.ts'
import type { Address } from '../../mime/message.ts'
import type { Accounts } from '../rows/accounts.ts'
import { type Change, type ChangeLedger, lastNumber } from '../rows/changes.ts'
import type { Account } from '../rows/records.ts'

export const IDENTITIES = table('identities', {
  /** See `nextNumber`. */
  n: integer().hidden(),
  /** `idn_…` */
  id: text(),
  account: integer().hidden(),
  /** Lower-case. */
  email: text(),
  /** "": the display name of the mailbox. */
  name: text().or(''),
  /** Default Reply-To; null: none. */
  reply_to: json<Address[]>().orNull(),
  /** Default Bcc; null: none. */
  bcc: json<Address[]>().orNull(),
  text_signature: text().or(''),
  html_signature: text().or(''),
  /** The default sender; exactly one identity is primary. */
  is_primary: flag(),
  created_at: time(),
  updated_at: time(),
})
const NUMBERED = IDENTITIES.and('n')
type NumberedIdentity = RecordOf<typeof NUMBERED>

export type Identity = RecordOf<typeof IDENTITIES>

/** Members left out are not changed. */
export interface IdentityChange {
  name?: string
  replyTo?: Address[] | null
  bcc?: Address[] | null
  textSignature?: string
  htmlSignature?: string
  /** Replaces the current primary identity. */
  isPrimary?: true
}

export interface NewIdentity extends Omit<IdentityChange, 'isPrimary'> {
  /** Lower-case; must be an address the mailbox may send as. */
  email: string
}

/** Above it a mailbox creates no more; each of its aliases gets one in any case (docs/design/mailbox.md §8). */
export const IDENTITIES_MAX = 100
export const SIGNATURE_MAX = 65_536

interface Deps {
  db: Db
  clock: Clock
  accounts: Accounts
  changes: ChangeLedger
}

export class Identities {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Creates the primary identity of a new account; the caller records the change in the ledger. */
  createPrimary(tx: Tx, account: number, email: string): Change {
    const n = nextNumber(tx, account)
    return this.#insert(tx, account, n, { email }, true)
  }

  /** Creates the identity of a new alias, unless the mailbox has one with its address. */
  addAddressIn(tx: Tx, account: Account, email: string): void {
    if (rowsOf(tx, account.n).some((row) => row.email === email)) return
    this.#recordChanges(tx, account, [this.#insert(tx, account.n, nextNumber(tx, account.n), { email }, false)])
  }

  /**
   * Deletes the identities of addresses that the mailbox no longer has. When the primary one is among them, that of the mailbox's own address
   * becomes primary.
   * @param address of the mailbox @param has whether the mailbox has an address
   */
  removeAddressesIn(tx: Tx, account: Account, address: string, has: (email: string) => boolean): void {
    const isOwn = ({ email }: NumberedIdentity) => has(email)
    const rows = rowsOf(tx, account.n)
    const gone = rows.filter((row) => !isOwn(row))
    if (gone.length === 0) return
    for (const { n } of gone) tx.run('DELETE FROM identities WHERE n = ?', [n])
    const recorded = gone.map((row) => changeOf(row, 'destroyed'))
    if (gone.some((row) => row.isPrimary)) {
      const left = rows.filter(isOwn)
      recorded.push(this.#makePrimary(tx, account, left.find(({ email }) => email === address) ?? left[0], address))
    }
    this.#recordChanges(tx, account, recorded)
  }

  /** The primary identity first, the others in order of creation. */
  list(account: Pick<Account, 'n'>, reader: Reader = this.#deps.db.read): Identity[] {
    return rowsOf(reader, account.n).map(({ n: _, ...identity }) => identity)
  }

  get(account: Account, id: string): Identity | undefined {
    return this.list(account).find((identity) => identity.id === id)
  }

  /** Whether an identity still exists: it can be deleted while a message is composed. */
  has(reader: Reader, account: Account, id: string): boolean {
    const sql = 'SELECT 1 AS found FROM identities WHERE id = ? AND account = ?'
    return reader.get(sql, [id, account.n]) !== undefined
  }

  /** @returns its id @throws ProductError conflict if there are too many */
  create(account: Account, identity: NewIdentity): Promise<string> {
    return this.#deps.db.write((tx) => {
      if (rowsOf(tx, account.n).length >= IDENTITIES_MAX) {
        throw conflict(`A mailbox has at most ${IDENTITIES_MAX} identities.`)
      }
      const change = this.#insert(tx, account.n, nextNumber(tx, account.n), identity, false)
      this.#recordChanges(tx, account, [change])
      return change.object
    })
  }

  /** @throws ProductError not_found */
  async update(account: Account, id: string, change: IdentityChange): Promise<void> {
    const now = this.#deps.clock.now()
    await this.#deps.db.write((tx) => {
      const rows = rowsOf(tx, account.n)
      const row = rows.find((candidate) => candidate.id === id)
      if (row === undefined) throw notFound('identity')
      const recorded: Change[] = [changeOf(row, 'updated')]
      const primary = rows.find((candidate) => candidate.isPrimary)!
      const becomesPrimary = change.isPrimary === true && primary !== row
      if (becomesPrimary) {
        // The current one first: a unique index allows only one.
        tx.run('UPDATE identities SET is_primary = 0, updated_at = ? WHERE n = ?', [now, primary.n])
        recorded.push(changeOf(primary, 'updated'))
      }
      const next = { ...change, isPrimary: becomesPrimary || row.isPrimary, updatedAt: now }
      IDENTITIES.update(tx, next, 'WHERE n = ?', [row.n])
      this.#recordChanges(tx, account, recorded)
    })
  }

  /** @throws ProductError not_found, conflict for the primary one */
  async remove(account: Account, id: string): Promise<void> {
    await this.#deps.db.write((tx) => {
      const row = rowsOf(tx, account.n).find((candidate) => candidate.id === id)
      if (row === undefined) throw notFound('identity')
      if (row.isPrimary) throw conflict('The primary identity cannot be deleted. Make another identity primary first.')
      tx.run('DELETE FROM identities WHERE n = ?', [row.n])
      this.#recordChanges(tx, account, [changeOf(row, 'destroyed')])
    })
  }

  /** Gives the identities of an address, and of it with a `+tag`, the new address of the mailbox. Both lower-case. */
  readdressIn(tx: Tx, account: Account, before: string, after: string): void {
    const [from, to] = [before.lastIndexOf('@'), after.lastIndexOf('@')]
    const isOf = ({ email }: NumberedIdentity) =>
      email === before || (email.startsWith(`${before.slice(0, from)}+`) && email.endsWith(before.slice(from)))
    const rows = rowsOf(tx, account.n).filter(isOf)
    if (rows.length === 0) return
    for (const { n, email } of rows) {
      const tag = email.slice(from, email.lastIndexOf('@'))
      const address = `${after.slice(0, to)}${tag}${after.slice(to)}`
      tx.run('UPDATE identities SET email = ?, updated_at = ? WHERE n = ?', [address, this.#deps.clock.now(), n])
    }
    const recorded = rows.map((row) => changeOf(row, 'updated'))
    this.#recordChanges(tx, account, recorded)
  }

  /** Deletes the identities of a deleted account. @returns how many. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    const { changes } = tx.run('DELETE FROM identities WHERE account = ?', [account.n])
    return changes
  }

  /** @param email of the identity that is created without a row */
  #makePrimary(tx: Tx, account: Account, row: NumberedIdentity | undefined, email: string): Change {
    if (row === undefined) return this.#insert(tx, account.n, nextNumber(tx, account.n), { email }, true)
    tx.run('UPDATE identities SET is_primary = 1, updated_at = ? WHERE n = ?', [this.#deps.clock.now(), row.n])
    return changeOf(row, 'updated')
  }

  #insert(tx: Tx, account: number, n: number, identity: NewIdentity, isPrimary: boolean): Change {
    const now = this.#deps.clock.now()
    const id = newId('identity')
    IDENTITIES.insert(tx, { ...identity, n, id, account, isPrimary, createdAt: now, updatedAt: now })
    return { type: 'identities', n, object: id, kind: 'created' }
  }

  #recordChanges(tx: Tx, account: Account, recorded: readonly Change[]): void {
    const { accounts, changes, clock } = this.#deps
    const seq = accounts.advance(tx, account.n, ['identities'], { bytes: 0, messages: 0 })
    changes.record(tx, account.n, seq, recorded, clock.now())
  }
}

/**
 * The identity whose name and defaults a message from an address of the mailbox has: that of the address, else of the address without its
 * `+tag`, else the primary one.
 * @param identities as `list` orders them @param email lower-case
 */
export function identityFor(identities: readonly Identity[], email: string): Identity {
  const at = (address: string) => identities.find((identity) => identity.email === address)
  return at(email) ?? at(untagged(email)) ?? identities[0]!
}

/** A number that the ledger records is not assigned again. */
function nextNumber(tx: Tx, account: number): number {
  const newest = tx.get<{ n: number | null }>('SELECT max(n) AS n FROM identities')
  return Math.max(newest?.n ?? 0, lastNumber(tx, account, 'identities')) + 1
}

function rowsOf(reader: Reader, account: number): NumberedIdentity[] {
  return NUMBERED.all(reader, 'WHERE account = ? ORDER BY is_primary DESC, n', [account])
}

function changeOf({ n, id }: NumberedIdentity, kind: Change['kind']): Change {
  return { type: 'identities', n, object: id, kind }
}
