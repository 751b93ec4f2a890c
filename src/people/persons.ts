// Persons: what belongs to one person in all their teams, by the address they sign in with.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Db, Reader, Row, Tx } from '../db/db.ts'

// WebAuthn §14.6.1: random, and nothing about the person is in it.
const HANDLE_BYTES = 32

export interface PersonRecord {
  /** Lower-case. */
  email: string
  /** The user handle of their passkeys. */
  handle: Uint8Array
  displayName: string | null
  /** A BCP 47 tag. */
  locale: string | null
  /** An IANA name. */
  timeZone: string | null
  isOperator: boolean
  /** The hash of their password, as `passwords.ts` writes it. */
  password: string | null
  /** The only team the password opens; null for all. */
  passwordTeamId: string | null
  /** JSON. */
  preferences: string | null
}

/** What a person says of themselves. */
export type Profile = Pick<PersonRecord, 'displayName' | 'locale' | 'timeZone'>

export class Persons {
  readonly #db: Db
  readonly #clock: Clock

  constructor({ db, clock }: { db: Db; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  /** Undefined for a person who has not signed in yet. @param email lower-case */
  get(email: string, reader: Reader = this.#db.read): PersonRecord | undefined {
    const row = reader.get('SELECT * FROM persons WHERE email = ?', [email])
    return row && personOf(row)
  }

  /** The person, created when they are not known yet. */
  ensure(tx: Tx, email: string): PersonRecord {
    const known = this.get(email, tx)
    if (known !== undefined) return known
    tx.insert('persons', { email, handle: randomBytes(HANDLE_BYTES), created_at: this.#clock.now() })
    return this.get(email, tx)!
  }

  setProfile(tx: Tx, email: string, { displayName, locale, timeZone }: Profile): void {
    this.ensure(tx, email)
    const sql = 'UPDATE persons SET display_name = ?, locale = ?, time_zone = ? WHERE email = ?'
    tx.run(sql, [displayName, locale, timeZone, email])
  }

  /** @param password see {@link PersonRecord.password} */
  setPassword(tx: Tx, { email, teamId }: { email: string; teamId: string | null }, password: string | null): void {
    this.ensure(tx, email)
    tx.run('UPDATE persons SET password = ?, password_team_id = ? WHERE email = ?', [password, teamId, email])
  }

  /** Removes a password that opens one team only. */
  deletePasswordBoundTo(tx: Tx, { email, teamId }: { email: string; teamId: string }): void {
    const sql = 'UPDATE persons SET password = NULL, password_team_id = NULL WHERE email = ? AND password_team_id = ?'
    tx.run(sql, [email, teamId])
  }

  /** @param preferences JSON */
  setPreferences(tx: Tx, email: string, preferences: string): void {
    this.ensure(tx, email)
    tx.run('UPDATE persons SET preferences = ? WHERE email = ?', [preferences, email])
  }

  setOperator(tx: Tx, email: string, isOperator: boolean): void {
    this.ensure(tx, email)
    tx.run('UPDATE persons SET is_operator = ? WHERE email = ?', [isOperator ? 1 : 0, email])
  }

  /** Addresses of the operators, in alphabetical order. */
  operators(reader: Reader = this.#db.read): string[] {
    const rows = reader.all<{ email: string }>('SELECT email FROM persons WHERE is_operator = 1 ORDER BY email')
    return rows.map(({ email }) => email)
  }

  /** Forgets a person. */
  delete(tx: Tx, email: string): void {
    tx.run('DELETE FROM persons WHERE email = ?', [email])
  }
}

function personOf(row: Row): PersonRecord {
  return {
    email: row.email as string,
    handle: row.handle as Uint8Array,
    displayName: row.display_name as string | null,
    locale: row.locale as string | null,
    timeZone: row.time_zone as string | null,
    isOperator: row.is_operator === 1,
    password: row.password as string | null,
    passwordTeamId: row.password_team_id as string | null,
    preferences: row.preferences as string | null,
  }
}
