// Changes that were sent to a server, or are about to be, and cannot be repeated safely: stored before, removed with the answer.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'

/**
 * `append`, `copy`: a message that is about to appear in a folder there. `later`: a message whose changes are to be sent at a time.
 */
export type IntentKind = 'append' | 'copy' | 'later'

export interface Intent {
  n: number
  kind: IntentKind
  /** Number of the message here. */
  message: number
  /** Number of the remote folder; null for `later`. */
  folder: number | null
  /** What finds the copy there; hexadecimal. */
  key: string | null
  /** Without angle brackets. */
  messageId: string | null
  /** `later`: when, ms. */
  at: number | null
  /** `later`: how often a server has refused it. */
  tries?: number
}

/** Has a message compared and sent with the next changes. */
export function sendNow(message: number): Omit<Intent, 'n'> {
  return { kind: 'later', message, folder: null, key: null, messageId: null, at: 0 }
}

interface IntentRow extends Pick<Intent, 'n' | 'kind' | 'message' | 'folder'> {
  detail: string
}

export class Intents {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  list(remote: number, reader: Reader = this.#db.read): Intent[] {
    const rows = reader.all<IntentRow>(
      'SELECT n, kind, message, folder, detail FROM remote_intents WHERE remote = ? ORDER BY n',
      [remote],
    )
    return rows.map(({ detail, ...row }) => ({
      ...row,
      ...(JSON.parse(detail) as Pick<Intent, 'key' | 'messageId' | 'at' | 'tries'>),
    }))
  }

  /** @returns its number */
  add(tx: Tx, remote: number, { kind, message, folder, ...detail }: Omit<Intent, 'n'>): number {
    const createdAt = this.#clock.now()
    return tx.insert('remote_intents', {
      ...{ remote, kind, message, folder, detail: JSON.stringify(detail), created_at: createdAt },
    })
  }

  remove(tx: Tx, numbers: readonly number[]): void {
    tx.run('DELETE FROM remote_intents WHERE n IN (SELECT value FROM json_each(?))', [JSON.stringify(numbers)])
  }

  /** All of an account. */
  removeOf(tx: Tx, remote: number): void {
    tx.run('DELETE FROM remote_intents WHERE remote = ?', [remote])
  }
}
