// Requests that carry an Idempotency-Key: each is done once, and its answer is kept for a day.

import type { Clock } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { randomName } from '../base/ids.ts'
import type { Db, Tx } from '../db/db.ts'

/** A request that neither ended nor failed holds its key this long, in ms: a crash must not lock a key for ever. */
export const LOCK_MS = 60_000
/** How long an answer is kept, in ms (decisions §1.8). */
export const KEEP_MS = 86_400_000
const SWEEP_EVERY_MS = 60_000
const SWEEP_MAX = 500

/** What was found under a key. */
export type Claim =
  /** Nothing: the caller does the work and then calls `keep` or `release` with this lock. */
  | { kind: 'claimed'; lock: string }
  /** The same request is being worked on. */
  | { kind: 'running' }
  /** The key was used with another content. */
  | { kind: 'other' }
  /** The answer of the first time. */
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
   * Takes a key, or tells what became of it. The database decides: of any number of claims at once one wins.
   * @param scope who asks for what under which key; one text without secrets
   * @param fingerprint equal for equal requests only
   */
  claim(scope: string, fingerprint: Uint8Array): Promise<Claim> {
    const lock = randomName()
    return this.#db.write(async (tx) => {
      const now = this.#clock.now()
      await this.#sweep(tx, now)
      const row = await tx.get<ReplayRow>(
        'SELECT fingerprint, state, status, body, expires_at FROM replays WHERE scope = ?',
        [scope],
      )
      if (row !== undefined && row.expires_at > now) return claimOf(row, fingerprint)
      await tx.run('DELETE FROM replays WHERE scope = ?', [scope])
      await tx.insert('replays', {
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
   * Keeps the answer of a claimed request. Does nothing when the lock ran out and somebody else holds the key.
   * @param status a number the caller gets back with the body
   */
  async keep(scope: string, lock: string, status: number, body: Uint8Array): Promise<void> {
    await this.#db.write((tx) => this.#finish(tx, scope, lock, status, body))
  }

  /**
   * The same within the unit of work the answer tells of: both are durable, or neither is.
   * @throws ProductError idempotency_conflict when the lock ran out and somebody else holds the key: they do the work, so that this
   *   unit of work must not
   */
  async keepIn(tx: Tx, scope: string, lock: string, status: number, body: Uint8Array): Promise<void> {
    if (await this.#finish(tx, scope, lock, status, body)) return
    throw new ProductError('idempotency_conflict', 'The request took so long that its repetition was begun instead.', {
      param: 'Idempotency-Key',
      retryAfter: 1,
    })
  }

  /** Gives a key back after a failure, so that a corrected request may use it. */
  async release(scope: string, lock: string): Promise<void> {
    await this.#db.write((tx) =>
      tx.run('DELETE FROM replays WHERE scope = ? AND state = ?', [scope, runningState(lock)]),
    )
  }

  async #finish(tx: Tx, scope: string, lock: string, status: number, body: Uint8Array): Promise<boolean> {
    const { changes } = await tx.run(
      "UPDATE replays SET state = 'done', status = ?, body = ?, expires_at = ? WHERE scope = ? AND state = ?",
      [status, body, this.#clock.now() + KEEP_MS, scope, runningState(lock)],
    )
    return changes > 0
  }

  async #sweep(tx: Tx, now: number): Promise<void> {
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return
    this.#sweptAt = now
    await tx.run('DELETE FROM replays WHERE scope IN (SELECT scope FROM replays WHERE expires_at <= ? LIMIT ?)', [
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
