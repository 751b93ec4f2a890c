// The browsers a person signed in with: a new one is reported to them by mail. A browser is recognised by a cookie, which opens no session.

import type { Clock } from '../base/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts'
import { sha256, type Vault } from '../base/secrets.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import type { SessionRecord } from './sessions.ts'

/** How long a browser stays known without a sign-in, ms. */
export const DEVICE_MS = 400 * DAY_MS
/** Browsers of one person that stay known, those seen last. */
const DEVICES_MAX = 20
/** Messages about new browsers to one person within an hour. */
const NOTICES_PER_HOUR = 5
/** How long after a sign-in the cookie is handed out, ms. */
const HANDED_OUT_MS = 15 * MINUTE_MS
const TOKEN_FORM = /^[A-Za-z0-9_-]{43}$/

/** The session of the browser. */
type Signed = Pick<SessionRecord, 'id' | 'email'>

interface Deps {
  db: Db
  clock: Clock
  vault: Vault
}

export class KnownDevices {
  readonly #db: Db
  readonly #clock: Clock
  readonly #vault: Vault

  constructor({ db, clock, vault }: Deps) {
    this.#db = db
    this.#clock = clock
    this.#vault = vault
  }

  /**
   * Notes the browser of a sign-in.
   * @param given the value of its cookie; null without one
   * @returns whether the person is to be notified: it is new, and not their first
   */
  note(tx: Tx, { id, email }: Signed, given: string | null): boolean {
    const now = this.#clock.now()
    if (this.#isKnown(tx, email, given)) {
      tx.run('UPDATE known_devices SET last_seen_at = ? WHERE email = ? AND hash = ?', [now, email, sha256(given!)])
      return false
    }
    const { before, lately } = tx.get<{ before: number; lately: number }>(
      'SELECT count(*) AS before, count(*) FILTER (WHERE created_at > ?) AS lately FROM known_devices WHERE email = ?',
      [now - HOUR_MS, email],
    )!
    // Of a browser that several people use. A value that was never given out is not taken over.
    const token = this.#isKnown(tx, null, given) ? given! : this.#tokenOf(id)
    tx.insert('known_devices', { email, hash: sha256(token), created_at: now, last_seen_at: now })
    tx.run(
      `DELETE FROM known_devices WHERE email = ? AND n NOT IN
         (SELECT n FROM known_devices WHERE email = ? ORDER BY last_seen_at DESC, n DESC LIMIT ?)`,
      [email, email, DEVICES_MAX],
    )
    return before > 0 && lately < NOTICES_PER_HOUR
  }

  /**
   * The value for the cookie of the browser of a session, until it brings one that is known.
   * @param given the value it brings; null without one
   * @returns null when there is none to give
   */
  tokenFor({ id, email, createdAt }: SessionRecord, given: string | null): string | null {
    // The application asks at once. Later, who has the cookie of the session alone would get that of the browser with it.
    if (this.#clock.now() - createdAt > HANDED_OUT_MS) return null
    if (this.#isKnown(this.#db.read, email, given)) return null
    const token = this.#tokenOf(id)
    return this.#isKnown(this.#db.read, email, token) ? token : null
  }

  /** The key of a browser the person signed in with, for counts of its own; null for another one. @param token the value of its cookie */
  keyOf(email: string, token: string | null): string | null {
    return this.#isKnown(this.#db.read, email, token) ? sha256(token!).toString('hex') : null
  }

  deleteOf(tx: Tx, email: string): void {
    tx.run('DELETE FROM known_devices WHERE email = ?', [email])
  }

  /** Whether `prune` has something to delete. */
  isDue(): boolean {
    const sql = 'SELECT 1 AS due FROM known_devices WHERE last_seen_at <= ? LIMIT 1'
    return this.#db.read.get(sql, [this.#clock.now() - DEVICE_MS]) !== undefined
  }

  /** Forgets browsers that were not used for long. @returns how many */
  prune(tx: Tx): number {
    return tx.run('DELETE FROM known_devices WHERE last_seen_at <= ?', [this.#clock.now() - DEVICE_MS]).changes
  }

  /** @param email null: of any person */
  #isKnown(reader: Reader, email: string | null, token: string | null): boolean {
    if (token === null || !TOKEN_FORM.test(token)) return false
    const sql = 'SELECT 1 AS known FROM known_devices WHERE hash = ? AND email = coalesce(?, email) LIMIT 1'
    return reader.get(sql, [sha256(token), email]) !== undefined
  }

  /** It follows from the session in which the browser was new, so that it need not be stored. */
  #tokenOf(sessionId: string): string {
    return this.#vault.mac('device', sessionId).toString('base64url')
  }
}
