// Annotations that mail programs keep of an account and of its folders (RFC 5464); they end with the folder.

import type { Db, Reader, Tx } from '../../db/db.ts'
import type { Account } from './records.ts'

/** Entries of one folder, and of the account itself. */
export const ANNOTATIONS_MAX = 50
/** The value of one entry, bytes. */
export const ANNOTATION_BYTES = 1024

/** Values by entry, in lower case. */
export type AnnotationValues = ReadonlyMap<string, Uint8Array>

/** Stands for a folder: the annotations of the account itself. */
const ACCOUNT = 0

export class Annotations {
  readonly #db: Db

  constructor(db: Db) {
    this.#db = db
  }

  /** All entries in ascending order. @param folder its number; null for the account itself */
  list(account: Pick<Account, 'n'>, folder: number | null, reader: Reader = this.#db.read): AnnotationValues {
    const rows = reader.all<{ entry: string; value: Uint8Array }>(
      'SELECT entry, value FROM annotations WHERE account = ? AND folder = ? ORDER BY entry',
      [account.n, folder ?? ACCOUNT],
    )
    return new Map(rows.map(({ entry, value }) => [entry, value]))
  }

  /**
   * Sets entries; those with null are removed.
   * @param changes values of at most {@link ANNOTATION_BYTES}, by entry in lower case
   * @returns false when there are too many then: the caller rolls back
   */
  change(
    tx: Tx,
    account: Pick<Account, 'n'>,
    folder: number | null,
    changes: ReadonlyMap<string, Uint8Array | null>,
  ): boolean {
    const key = [account.n, folder ?? ACCOUNT]
    for (const [entry, value] of changes) {
      if (value === null)
        tx.run('DELETE FROM annotations WHERE account = ? AND folder = ? AND entry = ?', [...key, entry])
      else
        tx.run('INSERT OR REPLACE INTO annotations (account, folder, entry, value) VALUES (?, ?, ?, ?)', [
          ...key,
          entry,
          value,
        ])
    }
    const count = tx.get<{ count: number }>(
      'SELECT count(*) AS count FROM annotations WHERE account = ? AND folder = ?',
      key,
    )
    return count!.count <= ANNOTATIONS_MAX
  }

  /** Gives a folder the entries of another one as well. */
  copy(tx: Tx, account: Pick<Account, 'n'>, from: number, to: number): void {
    tx.run(
      `INSERT OR REPLACE INTO annotations (account, folder, entry, value)
       SELECT account, ?, entry, value FROM annotations WHERE account = ? AND folder = ?`,
      [to, account.n, from],
    )
  }

  /** See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>): number {
    return tx.run('DELETE FROM annotations WHERE account = ?', [account.n]).changes
  }
}
