// The secrets of outside accounts, sealed with APP_SECRET, and how they are read and renewed.

import type { Vault } from '../../base/secrets.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { RemoteAuth } from '../model/records.ts'
import type { RemoteSecret } from './accounts-input.ts'

/** The secret of an account as it is stored. */
export interface SealedSecret {
  n: number
  id: string
  auth: RemoteAuth
  /** Of the settings. */
  version: number
  sealed: Uint8Array
}

/** @param id `racc_…` @returns undefined for an account without a secret */
export function readSealed(reader: Reader, id: string): SealedSecret | undefined {
  return reader.get<SealedSecret>(
    `SELECT n, id, auth, settings_version AS version, secret_sealed AS sealed FROM remote_accounts
     WHERE id = ? AND secret_sealed IS NOT NULL`,
    [id],
  )
}

/** Stores a rotated token, unless the account was connected again meanwhile. The settings stay the same. */
export function keepRotated(tx: Tx, { n, version }: SealedSecret, sealed: Uint8Array): void {
  tx.run('UPDATE remote_accounts SET secret_sealed = ? WHERE n = ? AND settings_version = ?', [sealed, n, version])
}

/** @param id `racc_…` */
export function sealSecret(vault: Vault, id: string, secret: RemoteSecret): Uint8Array {
  return vault.seal(`remote/${id}`, JSON.stringify(secret))
}

/** @throws Error for a secret that was sealed with another APP_SECRET */
export function openSecret(vault: Vault, id: string, sealed: Uint8Array): RemoteSecret {
  return JSON.parse(vault.open(`remote/${id}`, sealed).toString()) as RemoteSecret
}
