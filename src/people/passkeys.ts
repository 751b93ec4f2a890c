// The passkeys of people: public keys of their devices (WebAuthn).

import type { AuthenticatorTransport } from '@simplewebauthn/server'
import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import { bytes, flag, integer, json, type RecordOf, table, text, time } from '../db/table.ts'

export const PASSKEYS = table('passkeys', {
  /** `psk_…` */
  id: text(),
  /** Lower-case. */
  email: text(),
  /** The only team it opens: that of the session it was added in; null for all. */
  team_id: text().orNull(),
  /** base64url, as the browser names it. */
  credential_id: text(),
  /** COSE. */
  public_key: bytes(),
  /** The signature counter of the last use; 0 for devices that do not count. */
  counter: integer(),
  transports: json<AuthenticatorTransport[]>(),
  /** Whether the device keeps a copy elsewhere. */
  backed_up: flag().as('is_backed_up'),
  name: text(),
  created_at: time(),
  last_used_at: time().orNull(),
  /** The host it can be used at; null where an earlier version did not store it. */
  rp_id: text().orNull(),
})

export interface Passkey extends RecordOf<typeof PASSKEYS> {
  publicKey: Uint8Array<ArrayBuffer>
}

export const PASSKEYS_MAX = 20

export class Passkeys {
  readonly #db: Db
  readonly #clock: Clock

  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** All passkeys of a person, the oldest first. */
  list(email: string, reader: Reader = this.#db.read): Passkey[] {
    return PASSKEYS.all(reader, 'WHERE email = ? ORDER BY created_at, id', [email]).map(passkeyOf)
  }

  count(email: string, reader: Reader = this.#db.read): number {
    const row = reader.get<{ count: number }>('SELECT count(*) AS count FROM passkeys WHERE email = ?', [email])
    return row!.count
  }

  byCredential(credentialId: string, reader: Reader = this.#db.read): Passkey | undefined {
    const passkey = PASSKEYS.get(reader, 'WHERE credential_id = ?', [credentialId])
    return passkey && passkeyOf(passkey)
  }

  /** @returns undefined when the credential is known already */
  add(
    tx: Tx,
    passkey: Omit<Passkey, 'id' | 'rpId' | 'createdAt' | 'lastUsedAt'> & { rpId?: string },
  ): Passkey | undefined {
    if (this.byCredential(passkey.credentialId, tx) !== undefined) return undefined
    PASSKEYS.insert(tx, { ...passkey, id: newId('passkey'), createdAt: this.#clock.now() })
    return this.byCredential(passkey.credentialId, tx)
  }

  /** Records a use. @returns false when another use has counted further meanwhile */
  noteUse(tx: Tx, { id, counter }: Passkey, use: { counter: number; isBackedUp: boolean }): boolean {
    const sql = 'UPDATE passkeys SET counter = ?, backed_up = ?, last_used_at = ? WHERE id = ? AND counter = ?'
    return tx.run(sql, [use.counter, use.isBackedUp ? 1 : 0, this.#clock.now(), id, counter]).changes > 0
  }

  /** @returns undefined when the person has no such passkey */
  rename(tx: Tx, email: string, id: string, name: string): Passkey | undefined {
    tx.run('UPDATE passkeys SET name = ? WHERE email = ? AND id = ?', [name, email, id])
    return this.list(email, tx).find((one) => one.id === id)
  }

  /** @returns false when the person has no such passkey */
  delete(tx: Tx, email: string, id: string): boolean {
    return tx.run('DELETE FROM passkeys WHERE email = ? AND id = ?', [email, id]).changes > 0
  }

  /** Deletes those that open one team only. */
  deleteBoundTo(tx: Tx, { email, teamId }: { email: string; teamId: string }): void {
    tx.run('DELETE FROM passkeys WHERE email = ? AND team_id = ?', [email, teamId])
  }

  deleteOf(tx: Tx, email: string): void {
    tx.run('DELETE FROM passkeys WHERE email = ?', [email])
  }
}

/** SQLite's bytes may be a part of a larger buffer. */
function passkeyOf(passkey: RecordOf<typeof PASSKEYS>): Passkey {
  return { ...passkey, publicKey: new Uint8Array(passkey.publicKey) }
}
