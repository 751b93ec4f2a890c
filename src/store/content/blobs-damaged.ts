// Contents that were found damaged when they were read: noted once, named until they are replaced, deleted or restored.

import type { Clock } from '../../base/clock.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import type { DamagedContent } from './damaged-content.ts'

/** Contents that are noted at most: a damaged disk is one problem, not a million. */
const NOTED_MAX = 10_000

export interface DamagedBlob {
  hash: Uint8Array
  sizeBytes: number
  problem: string
  /** ms */
  foundAt: number
}

export class DamagedBlobs {
  readonly #db: Db
  readonly #clock: Clock
  /** In hexadecimal: those that are being noted. */
  readonly #writing = new Set<string>()
  #listener: (error: DamagedContent) => void = () => {}

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** @param listener receives each damaged content once */
  onDamage(listener: (error: DamagedContent) => void): void {
    this.#listener = listener
  }

  /** Notes damaged content; the row follows in a unit of work of its own, which nothing waits for. */
  note(error: DamagedContent): void {
    const { hash, problem } = error
    const key = Buffer.from(hash).toString('hex')
    if (this.#writing.has(key) || isNotedDamaged(this.#db.read, hash) || this.count() >= NOTED_MAX) return
    this.#writing.add(key)
    this.#listener(error)
    const row = [hash, problem, this.#clock.now()]
    this.#db
      .write((tx) => tx.run('INSERT OR IGNORE INTO damaged_blobs (hash, problem, found_at) VALUES (?, ?, ?)', row))
      // A disk that is full or read-only cannot note it: a later read does.
      .catch(() => {})
      .finally(() => this.#writing.delete(key))
  }

  /** The first ones by hash. */
  list(limit: number, after: Uint8Array = new Uint8Array(0)): DamagedBlob[] {
    return this.#db.read.all(
      `SELECT d.hash, coalesce(b.size_bytes, 0) AS sizeBytes, d.problem, d.found_at AS foundAt
       FROM damaged_blobs d LEFT JOIN blobs b ON b.hash = d.hash WHERE d.hash > ? ORDER BY d.hash LIMIT ?`,
      [after, limit],
    )
  }

  count(): number {
    return this.#db.read.get<{ count: number }>('SELECT count(*) AS count FROM damaged_blobs')!.count
  }

  /** Forgets contents that are whole again. */
  async forget(hashes: readonly Uint8Array[]): Promise<void> {
    await this.#db.write((tx) => {
      for (const hash of hashes) forgetDamage(tx, hash)
    })
  }
}

export function isNotedDamaged(reader: Reader, hash: Uint8Array): boolean {
  return reader.get('SELECT 1 FROM damaged_blobs WHERE hash = ?', [hash]) !== undefined
}

/** The content was replaced or deleted. */
export function forgetDamage(tx: Tx, hash: Uint8Array): void {
  tx.run('DELETE FROM damaged_blobs WHERE hash = ?', [hash])
}
