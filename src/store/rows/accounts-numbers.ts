// Numbers of accounts: the ranges of their messages and folders, UIDVALIDITY values, and sequence numbers as modification numbers.

import type { Reader, Tx } from '../../db/db.ts'

/** Numbers of messages, and of folders, that each account has. */
export const NUMBER_RANGE = 2 ** 32

/**
 * Range of message numbers of an account, both ends inclusive. Safe integers up to account 2,097,151. Folders of early versions have
 * lower numbers, the others are in the range as well.
 */
export function numberRange(account: number): { low: number; high: number } {
  return { low: account * NUMBER_RANGE, high: (account + 1) * NUMBER_RANGE - 1 }
}

/**
 * Reserves `count` consecutive UIDVALIDITY values for folders of an account. They grow strictly, also when the clock is set back, so
 * that no two folders of an account ever have the same one (RFC 9051 §2.3.1.1).
 * @param now ms
 * @returns the first of them
 */
export function reserveUidValidity(tx: Tx, account: number, count: number, now: number): number {
  const row = tx.get<{ last: number }>(
    `UPDATE accounts SET last_uid_validity = max(?, last_uid_validity + 1) + ? WHERE n = ?
     RETURNING last_uid_validity AS last`,
    [Math.floor(now / 1000), count - 1, account],
  )
  tx.assignsNumbersOf(account)
  return row!.last - count + 1
}

/** The greatest UIDVALIDITY of any folder, deleted ones included; 0 without folders. */
export function lastUidValidity(reader: Reader): number {
  return reader.get<{ last: number | null }>('SELECT max(last_uid_validity) AS last FROM accounts')?.last ?? 0
}

/** Stores that all accounts have used UIDVALIDITY values up to this one. */
export function raiseUidValidity(tx: Tx, last: number): void {
  tx.run('UPDATE accounts SET last_uid_validity = ?', [last])
  tx.assignsNumbersOf('all')
}

/** Skips UIDVALIDITY values of all accounts: they may have been given to folders that were lost. @param now ms */
export function skipUidValidity(tx: Tx, count: number, now: number): void {
  tx.run('UPDATE accounts SET last_uid_validity = max(last_uid_validity, ?) + ?', [Math.floor(now / 1000), count])
  tx.assignsNumbersOf('all')
}

/** The current sequence number of the account whose number is in `column`, for a scalar subquery. */
export function seqOf(column: string): string {
  return `SELECT seq FROM accounts a WHERE a.n = ${column}`
}

/** The mailbox of an account. */
export function mailboxIdOf(reader: Reader, account: number): string | undefined {
  return reader.get<{ id: string }>('SELECT mailbox_id AS id FROM accounts WHERE n = ?', [account])?.id
}
