// Recovery codes: each signs a person in once, when their device is lost.

import { randomName } from '../base/ids.ts'
import { sha256 } from '../base/secrets.ts'
import type { Db, Reader, Tx } from '../db/db.ts'

/** Codes made at once. */
export const RECOVERY_CODES = 10
// 12 of 36 characters are 62 bits: guessing is throttled, and the hash needs no salt.
const GROUPS = 3
const GROUP_LENGTH = 4

/** A person, and the only team what they add opens; null for all. */
export interface CredentialScope {
  email: string
  teamId: string | null
}

export class RecoveryCodes {
  readonly #db: Db

  constructor({ db }: { db: Db }) {
    this.#db = db
  }

  /** How many codes of a person were not used yet. */
  count(email: string, reader: Reader = this.#db.read): number {
    const row = reader.get<{ count: number }>('SELECT count(*) AS count FROM recovery_codes WHERE email = ?', [email])
    return row!.count
  }

  /** How many of exactly this scope were not used yet. */
  countOf({ email, teamId }: CredentialScope, reader: Reader = this.#db.read): number {
    const sql = 'SELECT count(*) AS count FROM recovery_codes WHERE email = ? AND team_id IS ?'
    return reader.get<{ count: number }>(sql, [email, teamId])!.count
  }

  /** Makes new codes; earlier ones of the same scope no longer work. @returns the codes, which are not stored */
  replace(tx: Tx, { email, teamId }: CredentialScope): string[] {
    tx.run('DELETE FROM recovery_codes WHERE email = ? AND team_id IS ?', [email, teamId])
    const codes = Array.from({ length: RECOVERY_CODES }, newCode)
    for (const code of codes) tx.insert('recovery_codes', { email, team_id: teamId, hash: hashOf(email, code) })
    return codes
  }

  /** Uses a code. @param typed with or without its hyphens, in any case @returns undefined when it is not one of the person's */
  use(tx: Tx, email: string, typed: string): CredentialScope | undefined {
    const sql = 'DELETE FROM recovery_codes WHERE email = ? AND hash = ? RETURNING team_id'
    const row = tx.get<{ team_id: string | null }>(sql, [email, hashOf(email, typed)])
    return row && { email, teamId: row.team_id }
  }

  /** Deletes those that open one team only. */
  deleteBoundTo(tx: Tx, { email, teamId }: { email: string; teamId: string }): void {
    tx.run('DELETE FROM recovery_codes WHERE email = ? AND team_id = ?', [email, teamId])
  }

  deleteOf(tx: Tx, email: string): void {
    tx.run('DELETE FROM recovery_codes WHERE email = ?', [email])
  }
}

function newCode(): string {
  return Array.from({ length: GROUPS }, () => randomName(GROUP_LENGTH)).join('-')
}

function hashOf(email: string, code: string): Uint8Array {
  return sha256(`${email} ${code.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`)
}
