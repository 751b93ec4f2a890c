// Persons: what belongs to one person in all their teams, by the address they sign in with.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import { bytes, flag, type RecordOf, table, text, time } from '../db/table.ts'

// WebAuthn §14.6.1: random, and nothing about the person is in it.
const HANDLE_BYTES = 32

export const PERSONS = table('persons', {
  /** Lower-case. */
  email: text(),
  /** The user handle of their passkeys. */
  handle: bytes(),
  display_name: text().orNull(),
  /** A BCP 47 tag. */
  locale: text().orNull(),
  /** An IANA name. */
  time_zone: text().orNull(),
  is_operator: flag().or(0),
  /** The hash of their password, as `passwords.ts` writes it. */
  password: text().orNull(),
  /** The only team the password opens; null for all. */
  password_team_id: text().orNull(),
  /** JSON. */
  preferences: text().orNull(),
  created_at: time().hidden(),
})
export type PersonRecord = RecordOf<typeof PERSONS>

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
    return PERSONS.get(reader, 'WHERE email = ?', [email])
  }

  /** The person, created when they are not known yet. */
  ensure(tx: Tx, email: string): PersonRecord {
    const known = this.get(email, tx)
    if (known !== undefined) return known
    PERSONS.insert(tx, { email, handle: randomBytes(HANDLE_BYTES), createdAt: this.#clock.now() })
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
