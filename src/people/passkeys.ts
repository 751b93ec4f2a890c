// The passkeys of people: public keys of their devices (WebAuthn).

import type { AuthenticatorTransport } from '@simplewebauthn/server'
import type { Clock } from '../base/clock.ts'
import { newId } from '../base/ids.ts'
import type { Db, Reader, Row, Tx } from '../db/db.ts'

export interface Passkey {
  /** `psk_…` */
  id: string
  /** Lower-case. */
  email: string
  /** The only team it opens: that of the session it was added in; null for all. */
  teamId: string | null
  /** base64url, as the browser names it. */
  credentialId: string
  /** COSE. */
  publicKey: Uint8Array<ArrayBuffer>
  /** The signature counter of the last use; 0 for devices that do not count. */
  counter: number
  transports: AuthenticatorTransport[]
  /** Whether the device keeps a copy elsewhere. */
  isBackedUp: boolean
  name: string
  /** The host it can be used at; null where an earlier version did not store it. */
  rpId: string | null
  createdAt: number
  lastUsedAt: number | null
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
    return reader.all('SELECT * FROM passkeys WHERE email = ? ORDER BY created_at, id', [email]).map(passkeyOf)
  }

  count(email: string, reader: Reader = this.#db.read): number {
    const row = reader.get<{ count: number }>('SELECT count(*) AS count FROM passkeys WHERE email = ?', [email])
    return row!.count
  }

  byCredential(credentialId: string, reader: Reader = this.#db.read): Passkey | undefined {
    const row = reader.get('SELECT * FROM passkeys WHERE credential_id = ?', [credentialId])
    return row && passkeyOf(row)
  }

  /** @returns undefined when the credential is known already */
  add(
    tx: Tx,
    passkey: Omit<Passkey, 'id' | 'rpId' | 'createdAt' | 'lastUsedAt'> & { rpId?: string },
  ): Passkey | undefined {
    if (this.byCredential(passkey.credentialId, tx) !== undefined) return undefined
    const id = newId('passkey')
    tx.insert('passkeys', {
      ...{
        id,
        email: passkey.email,
        team_id: passkey.teamId,
        credential_id: passkey.credentialId,
        public_key: passkey.publicKey,
      },
      ...{ counter: passkey.counter, transports: JSON.stringify(passkey.transports), name: passkey.name },
      ...{ backed_up: passkey.isBackedUp ? 1 : 0, rp_id: passkey.rpId ?? null, created_at: this.#clock.now() },
    })
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

function passkeyOf(row: Row): Passkey {
  return {
    id: row.id as string,
    email: row.email as string,
    teamId: row.team_id as string | null,
    credentialId: row.credential_id as string,
    publicKey: new Uint8Array(row.public_key as Uint8Array),
    counter: row.counter as number,
    transports: JSON.parse(row.transports as string) as AuthenticatorTransport[],
    isBackedUp: row.backed_up === 1,
    name: row.name as string,
    rpId: row.rp_id as string | null,
    createdAt: row.created_at as number,
    lastUsedAt: row.last_used_at as number | null,
  }
}
