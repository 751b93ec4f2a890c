// The bytes of mail, kept once by the SHA-256 of their content, read back whole or in stretches.

import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import type { Clock } from '../base/clock.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import type { Chunk } from '../mime/message.ts'

const decompress = promisify(zstdDecompress)

// A blob is written before the row that names it. Younger blobs without a row may belong to a delivery under way.
export const SWEEP_GRACE_MS = 60 * 60 * 1000
const SWEEP_BATCH = 500

export interface StoredContent {
  /** SHA-256 of its bytes. */
  hash: Uint8Array
  sizeBytes: number
  chunks: readonly Chunk[]
}

/** A row that names content, by its number. */
export interface NamedContent {
  n: number
  hash: Uint8Array
}

/** Content that is kept: what it measures, and how much of it is there. Bytes. */
export interface StoredSize {
  hash: Uint8Array
  sizeBytes: number
  heldBytes: number
}

export class Blobs {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Keeps content; resolves when it is durable. Content that is there already is only marked as wanted again. */
  put(hash: Uint8Array, sizeBytes: number, chunks: readonly Chunk[]): Promise<void> {
    return this.putAll([{ hash, sizeBytes, chunks }])
  }

  /** The same for many contents in one unit of work. */
  putAll(contents: readonly StoredContent[]): Promise<void> {
    const now = this.#clock.now()
    return this.#db.write(async (tx) => {
      for (const content of contents) await keep(tx, content, now)
    })
  }

  /** Size in bytes, or undefined when there is no such content. */
  async size(hash: Uint8Array): Promise<number | undefined> {
    const row = await this.#db.read.get<{ size_bytes: number }>('SELECT size_bytes FROM blobs WHERE hash = ?', [hash])
    return row?.size_bytes
  }

  /**
   * The bytes from `start` to `end` (exclusive), one chunk in memory at a time.
   * @throws Error when a chunk is missing: the file is damaged
   */
  async *read(hash: Uint8Array, start: number, end: number): AsyncGenerator<Uint8Array> {
    let at = start
    while (at < end) {
      const chunk = await this.#db.read.get<{ start: number; size_bytes: number; zstd: number; data: Uint8Array }>(
        'SELECT start, size_bytes, zstd, data FROM chunks WHERE hash = ? AND start <= ? ORDER BY start DESC LIMIT 1',
        [hash, at],
      )
      if (!chunk || chunk.start + chunk.size_bytes <= at) {
        throw new Error(
          `Content ${Buffer.from(hash).toString('hex')} has no byte ${at}: blobs.db is damaged or incomplete.`,
        )
      }
      const data = chunk.zstd ? await decompress(chunk.data) : chunk.data
      yield data.subarray(at - chunk.start, Math.min(end - chunk.start, chunk.size_bytes))
      at = chunk.start + chunk.size_bytes
    }
  }

  /** As {@link read}, in one piece: for stretches known to be small. */
  async bytes(hash: Uint8Array, start: number, end: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.read(hash, start, end)) pieces.push(piece)
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  }

  /**
   * Erases content that nothing names any more and that is older than {@link SWEEP_GRACE_MS}.
   * @param isNamed tells which of some hashes are named by a row
   * @param unknown content stored between these times (ms) is left alone: the database with those rows was not in use then
   * @returns how many were erased
   */
  async sweep(
    isNamed: (hashes: Uint8Array[]) => Promise<Set<string>>,
    unknown: { after: number; before: number } = { after: 0, before: 0 },
  ): Promise<number> {
    const cutoff = this.#clock.now() - SWEEP_GRACE_MS
    let erased = 0
    let after: Uint8Array = new Uint8Array(0)
    for (;;) {
      const rows = await this.#db.scan.all<{ hash: Uint8Array }>(
        `SELECT hash FROM blobs WHERE hash > ? AND stored_at < ? AND NOT (stored_at > ? AND stored_at < ?)
         ORDER BY hash LIMIT ?`,
        [after, cutoff, unknown.after, unknown.before, SWEEP_BATCH],
      )
      if (rows.length === 0) return erased
      after = rows.at(-1)!.hash
      const named = await isNamed(rows.map((row) => row.hash))
      erased += await this.#erase(
        rows.map((row) => row.hash).filter((hash) => !named.has(Buffer.from(hash).toString('hex'))),
        cutoff,
      )
    }
  }

  async #erase(hashes: Uint8Array[], cutoff: number): Promise<number> {
    if (hashes.length === 0) return 0
    return this.#db.write(async (tx) => {
      let erased = 0
      for (const hash of hashes) {
        // Asked again inside the write: a delivery may have wanted it meanwhile.
        const { changes } = await tx.run('DELETE FROM blobs WHERE hash = ? AND stored_at < ?', [hash, cutoff])
        if (changes > 0) await tx.run('DELETE FROM chunks WHERE hash = ?', [hash])
        erased += changes
      }
      return erased
    })
  }

  /** Every hash kept, for checks of the whole house. */
  async hashes(): Promise<Uint8Array[]> {
    const rows = await this.#db.scan.all<{ hash: Uint8Array }>('SELECT hash FROM blobs')
    return rows.map((row) => row.hash)
  }
}

async function keep(tx: Tx, { hash, sizeBytes, chunks }: StoredContent, now: number): Promise<void> {
  const { changes } = await tx.run('INSERT OR IGNORE INTO blobs (hash, size_bytes, stored_at) VALUES (?, ?, ?)', [
    hash,
    sizeBytes,
    now,
  ])
  if (changes === 0) {
    await tx.run('UPDATE blobs SET stored_at = ? WHERE hash = ?', [now, hash])
    return
  }
  for (const { start, sizeBytes: size, zstd, data } of chunks) {
    await tx.insert('chunks', { hash, start, size_bytes: size, zstd, data })
  }
}

/** The next contents after `after` (no bytes at first), at most `limit`: for a check of the whole file. */
export function keptContents(reader: Reader, after: Uint8Array, limit: number): Promise<StoredSize[]> {
  return reader.all(
    `SELECT hash, size_bytes AS sizeBytes,
       (SELECT coalesce(sum(c.size_bytes), 0) FROM chunks c WHERE c.hash = b.hash) AS heldBytes
     FROM blobs b WHERE hash > ? ORDER BY hash LIMIT ?`,
    [after, limit],
  )
}

/** How many of these different hashes there is content of. */
export async function countKept(reader: Reader, hashes: readonly Uint8Array[]): Promise<number> {
  const marks = hashes.map(() => '?').join(', ')
  const row = await reader.get<{ kept: number }>(`SELECT count(*) AS kept FROM blobs WHERE hash IN (${marks})`, hashes)
  return row!.kept
}

/** Reads the newest chunk of content. @throws Error of SQLite when its pages are damaged */
export async function readNewestContent(reader: Reader): Promise<void> {
  await reader.all('SELECT hash FROM blobs ORDER BY stored_at DESC LIMIT 1')
  await reader.all('SELECT * FROM chunks ORDER BY n DESC LIMIT 1')
}
