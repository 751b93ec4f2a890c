// Idempotency-Key: each request is executed once, and its response is stored for a day.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../base/durations.ts'
import { ProductError } from '../../base/errors.ts'
import { randomName } from '../../base/ids.ts'
import type { Db, Tx } from '../../db/db.ts'

/** How long a running request holds its key, ms: a crash must not lock a key for ever. */
export const LOCK_MS = MINUTE_MS
/** How long a response is stored, ms (docs/design/http.md §8). */
export const KEEP_MS = DAY_MS
const SWEEP_EVERY_MS = MINUTE_MS
const SWEEP_MAX = 500

/** The state of a key. */
export type Claim =
  /** Unused: the caller executes the request and then calls `keep` or `release` with this lock. */
  | { kind: 'claimed'; lock: string }
  /** The same request is still running. */
  | { kind: 'running' }
  /** The key was used with another request. */
  | { kind: 'other' }
  /** The response of the first request. */
  | { kind: 'done'; status: number; body: Uint8Array }

interface ReplayRow {
  fingerprint: Uint8Array
  state: string
  status: number | null
  body: Uint8Array | null
  expires_at: number
}

export class Replays {
  readonly #db: Db
  readonly #clock: Clock
  #sweptAt = 0

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * Claims a key, or returns its state. Atomic: of concurrent claims one wins.
   * @param scope principal, route and key as one text without secrets
   * @param fingerprint equal for equal requests only
   */
  claim(scope: string, fingerprint: Uint8Array): Promise<Claim> {
    const lock = randomName()
    return this.#db.write((tx) => {
      const now = this.#clock.now()
      this.#sweep(tx, now)
      const row = tx.get<ReplayRow>(
        'SELECT fingerprint, state, status, body, expires_at FROM replays WHERE scope = ?',
        [scope],
      )
      if (row !== undefined && row.expires_at > now) return claimOf(row, fingerprint)
      tx.run('DELETE FROM replays WHERE scope = ?', [scope])
      tx.insert('replays', {
        scope,
        fingerprint,
        state: runningState(lock),
        created_at: now,
        expires_at: now + LOCK_MS,
      })
      return { kind: 'claimed', lock }
    })
  }

  /**
   * Stores the response of a claimed request. Does nothing when the lock expired and another request claimed the key.
   * @param status returned with the body
   */
  async keep(scope: string, lock: string, status: number, body: Uint8Array): Promise<void> {
    await this.#db.write((tx) => this.#finish(tx, scope, lock, status, body))
  }

  /**
   * As `keep`, in the unit of work of the request: both are durable, or neither is.
   * @throws ProductError idempotency_conflict when the lock expired and another request claimed the key: that one executes, so this unit
   *   of work must not
   */
  keepIn(tx: Tx, scope: string, lock: string, status: number, body: Uint8Array): void {
    if (this.#finish(tx, scope, lock, status, body)) return
    throw new ProductError(
      'idempotency_conflict',
      'The request took too long, and a repetition of it has started. Try again.',
      {
        param: 'Idempotency-Key',
        retryAfter: 1,
      },
    )
  }

  /** Releases a key after a failure, so that a corrected request can use it. */
  async release(scope: string, lock: string): Promise<void> {
    await this.#db.write((tx) =>
      tx.run('DELETE FROM replays WHERE scope = ? AND state = ?', [scope, runningState(lock)]),
    )
  }

  #finish(tx: Tx, scope: string, lock: string, status: number, body: Uint8Array): boolean {
    const { changes } = tx.run(
      "UPDATE replays SET state = 'done', status = ?, body = ?, expires_at = ? WHERE scope = ? AND state = ?",
      [status, body, this.#clock.now() + KEEP_MS, scope, runningState(lock)],
    )
    return changes > 0
  }

  #sweep(tx: Tx, now: number): void {
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return
    this.#sweptAt = now
    tx.run('DELETE FROM replays WHERE scope IN (SELECT scope FROM replays WHERE expires_at <= ? LIMIT ?)', [
      now,
      SWEEP_MAX,
    ])
  }
}

function runningState(lock: string): string {
  return `running:${lock}`
}

function claimOf(row: ReplayRow, fingerprint: Uint8Array): Claim {
  if (!Buffer.from(row.fingerprint).equals(fingerprint)) return { kind: 'other' }
  if (row.state !== 'done') return { kind: 'running' }
  return { kind: 'done', status: row.status ?? 0, body: row.body ?? new Uint8Array() }
}
