// API keys of the operator, valid only on the operator listener (docs/design/http.md §2, docs/design/directory.md §4).

import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids.ts'
import { isSecret, newSecret, sha256 } from '../../base/secrets.ts'
import type { Db } from '../../db/db.ts'
import type { OperatorPrincipal } from '../names/principal.ts'
import { checkName } from './teams.ts'

const NAME_MAX = 100
const PREFIX = 'sok_'

export class OperatorKeys {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** @returns the id and the secret, which is stored only as a hash. @throws ProductError validation_error on `name` */
  async issue(name: string): Promise<{ id: string; secret: string }> {
    const [id, secret] = [newId('key'), newSecret(PREFIX)]
    const row = { id, name: checkName(name, NAME_MAX), hash: sha256(secret), created_at: this.#clock.now() }
    await this.#db.write((tx) => tx.insert('operator_keys', row))
    return { id, secret }
  }

  /** The principal of a secret; undefined for one that is malformed, unknown or revoked. */
  recognise(secret: string): OperatorPrincipal | undefined {
    if (!secret.startsWith(PREFIX) || !isSecret(secret)) return undefined
    const row = this.#db.read.get<{ id: string }>(
      'SELECT id FROM operator_keys WHERE hash = ? AND revoked_at IS NULL',
      [sha256(secret)],
    )
    return row && { kind: 'operator', keyId: row.id }
  }

  /** Revokes all keys immediately. @returns how many */
  async revokeAll(): Promise<number> {
    const { changes } = await this.#db.write((tx) =>
      tx.run('UPDATE operator_keys SET revoked_at = ? WHERE revoked_at IS NULL', [this.#clock.now()]),
    )
    return changes
  }
}
