// Messages of earlier versions whose structure and headers are still to be stored in the present form, and how far that is done.

import type { Reader, Tx } from '../../db/db.ts'
import type { Part } from '../../mime/message.ts'
import { numberRange } from '../rows/accounts-numbers.ts'
import { putHeaders } from './headers.ts'

/** A message to outline. */
export interface OutlinedMessage {
  n: number
  id: string
  blob: Uint8Array
  sizeBytes: number
}

/** The present form of what is stored about a message. */
export interface Outline {
  root: Part
  keptHeaders: Uint8Array
}

/** Numbers of accounts that are not done. */
export function accountsToOutline(reader: Reader): number[] {
  return reader
    .all<{ account: number }>('SELECT account FROM outline_progress ORDER BY account')
    .map((row) => row.account)
}

/** How many messages are left, at most. */
export function messagesToOutline(reader: Reader): number {
  return accountsToOutline(reader).reduce((sum, account) => {
    const row = reader.get<{ n: number }>(
      `SELECT count(*) AS n FROM messages WHERE n BETWEEN ? AND (SELECT before - 1 FROM outline_progress WHERE account = ?)`,
      [numberRange(account).low, account],
    )
    return sum + row!.n
  }, 0)
}

/** The next messages of an account, newest first. */
export function nextToOutline(reader: Reader, account: number, limit: number): OutlinedMessage[] {
  return reader.all<OutlinedMessage>(
    `SELECT n, id, blob, size_bytes AS sizeBytes FROM messages
     WHERE n >= ? AND n < (SELECT before FROM outline_progress WHERE account = ?) ORDER BY n DESC LIMIT ?`,
    [numberRange(account).low, account, limit],
  )
}

/** Records that messages with this number and above are done. */
export function saveOutlined(tx: Tx, account: number, before: number): void {
  tx.run('UPDATE outline_progress SET before = ? WHERE account = ?', [before, account])
}

/** Nothing is left of the account. @returns the number of deleted rows. See `PurgeStep`. */
export function endOutlining(tx: Tx, account: number): number {
  return tx.run('DELETE FROM outline_progress WHERE account = ?', [account]).changes
}

/** Stores an outline unless the message was deleted. @returns false if it was */
export function putOutline(tx: Tx, { n, id }: OutlinedMessage, { root, keptHeaders }: Outline): boolean {
  const row = tx.get<{ structure: string }>('SELECT structure FROM messages WHERE n = ? AND id = ?', [n, id])
  if (row === undefined) return false
  const structure = JSON.parse(row.structure) as { root: Part | null }
  // Without a structure a message was not read, and is shown as it is.
  if (structure.root !== null) {
    tx.run('UPDATE messages SET structure = ? WHERE n = ?', [JSON.stringify({ ...structure, root }), n])
  }
  putHeaders(tx, n, keptHeaders)
  return true
}
