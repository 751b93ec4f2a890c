// The blob store: content stored once by its SHA-256, in compressed chunks, and read by byte ranges.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../../base/durations.ts'
import { freeBytes } from '../../base/free-bytes.ts'
import { WriteBatches } from '../../base/write-batches.ts'
import type { Db, Reader, Row, Steps, Tx } from '../../db/db.ts'
import { inPieces, insertMany } from '../../db/many-rows.ts'
import { placeholders } from '../../db/sql-text.ts'
import type { Chunk } from '../../mime/message.ts'
import { DamagedBlobs, forgetDamage, isNotedDamaged } from './blobs-damaged.ts'
import { ContentReader, hexOf, type SizedContent } from './blobs-reader.ts'

export { SMALL_CONTENT_BYTES } from './blobs-reader.ts'

// A blob is written before the row that refers to it. Younger blobs without a row may belong to a delivery in progress.
export const SWEEP_GRACE_MS = HOUR_MS
const SWEEP_BATCH = 500
/** Larger contents are written alone. */
const SMALL_BYTES = 128 * 1024
const SMALL_BATCH = 32
/** How long content that mail.db may be too old to reference is kept: time for putting the right mail.db back in place. */
export const UNCLAIMED_RETENTION_MS = 30 * DAY_MS

/** Finds which of some hashes a row references, in hexadecimal. */
export type FindNamed = (hashes: Uint8Array[]) => Promise<Set<string>>

export interface StoredContent {
  /** SHA-256 of its bytes. */
  hash: Uint8Array
  sizeBytes: number
  chunks: readonly Chunk[]
}

/** The number of a row, and the hash of the content it refers to. */
export interface NamedContent {
  n: number
  hash: Uint8Array
}

/** Content that may be deleted unless it was stored again after a time, ms. */
export interface ReleasedContent {
  hash: Uint8Array
  until: number
}

/** Size of a blob as recorded, and the sum of its stored chunks. Bytes. */
export interface ContentSize {
  hash: Uint8Array
  sizeBytes: number
  storedBytes: number
}

/** Reading alone, as {@link Blobs} does it. */
export type BlobReads = Pick<Blobs, 'read' | 'open' | 'small'>

/** Reads contents through any connection to blobs.db. */
export function blobReads(reader: Reader): BlobReads {
  return new ContentReader(reader)
}

export class Blobs {
  readonly #db: Db
  readonly #clock: Clock
  readonly #small: WriteBatches<StoredContent>
  readonly #reader: ContentReader
  /** Contents that were found damaged when they were read. */
  readonly damaged: DamagedBlobs

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.damaged = new DamagedBlobs(db, clock)
    this.#reader = new ContentReader(db.read, (error) => this.damaged.note(error))
    this.#small = new WriteBatches({
      most: SMALL_BATCH,
      overlap: true,
      write: (take) =>
        db.write((tx) => {
          const contents = take()
          insertContents(tx, contents, clock.now())
          return contents.map(() => undefined)
        }),
    })
  }

  /**
   * Stores content; resolves when it is durable. Content that exists already only gets a new `stored_at`, which keeps it from being
   * swept. Small contents that wait together are stored together.
   */
  put(hash: Uint8Array, sizeBytes: number, chunks: readonly Chunk[]): Promise<void> {
    if (this.#db.isOnReserve) return Promise.reject(diskFull())
    const content = { hash, sizeBytes, chunks }
    return isSmall(content) ? this.#small.write(content) : this.putAll([content])
  }

  /** {@link put} for several contents in one unit of work. */
  putAll(contents: readonly StoredContent[]): Promise<void> {
    if (this.#db.isOnReserve) return Promise.reject(diskFull())
    const now = this.#clock.now()
    const small = contents.filter(isSmall)
    return this.#db.writeInSteps(function* (tx) {
      for (let at = 0; at < small.length; at += SMALL_BATCH) {
        insertContents(tx, small.slice(at, at + SMALL_BATCH), now)
        yield
      }
      for (const content of contents) if (!isSmall(content)) yield* insertContent(tx, content, now)
    })
  }

  /** Size in bytes; undefined if there is no such content. */
  size(hash: Uint8Array): number | undefined {
    const row = this.#db.read.get<{ size_bytes: number }>('SELECT size_bytes FROM blobs WHERE hash = ?', [hash])
    return row?.size_bytes
  }

  /** See {@link ContentReader.read}. */
  read(hash: Uint8Array, start: number, end: number): AsyncGenerator<Uint8Array> {
    return this.#reader.read(hash, start, end)
  }

  /** See {@link ContentReader.open}. */
  open(hash: Uint8Array, start: number, end: number): Promise<AsyncIterable<Uint8Array>> {
    return this.#reader.open(hash, start, end)
  }

  /** See {@link ContentReader.small}. */
  small(contents: readonly SizedContent[]): (Uint8Array | undefined)[] {
    return this.#reader.small(contents)
  }

  /** See {@link ContentReader.isIntact}. */
  isIntact(content: SizedContent): Promise<boolean> {
    return this.#reader.isIntact(content)
  }

  /** {@link read} into memory: only for ranges known to be small. */
  async bytes(hash: Uint8Array, start: number, end: number): Promise<Uint8Array> {
    let bytes: Uint8Array | null = null
    let at = 0
    for await (const piece of this.read(hash, start, end)) {
      if (piece.length === end - start) return piece
      bytes ??= new Uint8Array(end - start)
      bytes.set(piece, at)
      at += piece.length
      freeBytes([piece])
    }
    return bytes ?? new Uint8Array()
  }

  /**
   * Deletes content that no row references and that is older than {@link SWEEP_GRACE_MS}; content noted by {@link noteUnclaimed} only
   * {@link UNCLAIMED_RETENTION_MS} after the first sweep.
   * @returns how many were deleted
   */
  async sweep(findNamed: FindNamed): Promise<number> {
    await this.#reviewUnclaimed(findNamed)
    const cutoff = this.#clock.now() - SWEEP_GRACE_MS
    let deleted = 0
    let after: Uint8Array = new Uint8Array(0)
    for (;;) {
      const rows = await this.#db.scan.all<{ hash: Uint8Array }>(
        `SELECT hash FROM blobs b WHERE hash > ? AND stored_at < ?
           AND NOT EXISTS (SELECT 1 FROM unclaimed_blobs u WHERE u.hash = b.hash)
         ORDER BY hash LIMIT ?`,
        [after, cutoff, SWEEP_BATCH],
      )
      if (rows.length === 0) return deleted
      after = rows.at(-1)!.hash
      const named = await findNamed(rows.map((row) => row.hash))
      const unnamed = rows.filter(({ hash }) => !named.has(hexOf(hash)))
      deleted += await this.#delete(unnamed.map(({ hash }) => ({ hash, before: cutoff })))
    }
  }

  /**
   * Deletes content at once that no row references any more: of a version that was replaced.
   * @param until ms: content that was stored again later may belong to a row that is being written
   */
  async release(hash: Uint8Array, until: number, findNamed: FindNamed): Promise<void> {
    await this.releaseAll([{ hash, until }], findNamed)
  }

  /** {@link release} for several contents in one unit of work. @returns how many were deleted */
  async releaseAll(contents: readonly ReleasedContent[], findNamed: FindNamed): Promise<number> {
    const sql = 'SELECT 1 AS found FROM unclaimed_blobs WHERE hash = ?'
    const claimed = contents.filter(({ hash }) => this.#db.read.get(sql, [hash]) === undefined)
    const named = await findNamed(claimed.map(({ hash }) => hash))
    const unnamed = claimed.filter(({ hash }) => !named.has(hexOf(hash)))
    return this.#delete(unnamed.map(({ hash, until }) => ({ hash, before: until + 1 })))
  }

  /** Content that a row references is no longer unclaimed; the rest is until it has expired. */
  async #reviewUnclaimed(findNamed: FindNamed): Promise<void> {
    const now = this.#clock.now()
    let after: Uint8Array = new Uint8Array(0)
    for (;;) {
      const rows = await this.#db.scan.all<{ hash: Uint8Array; keptUntil: number | null }>(
        'SELECT hash, kept_until AS keptUntil FROM unclaimed_blobs WHERE hash > ? ORDER BY hash LIMIT ?',
        [after, SWEEP_BATCH],
      )
      if (rows.length === 0) return
      after = rows.at(-1)!.hash
      const named = await findNamed(rows.map(({ hash }) => hash))
      await this.#db.write((tx) => {
        for (const { hash, keptUntil } of rows) {
          const isOver = keptUntil !== null && keptUntil <= now
          if (isOver || named.has(hexOf(hash))) {
            tx.run('DELETE FROM unclaimed_blobs WHERE hash = ?', [hash])
          } else if (keptUntil === null) {
            tx.run('UPDATE unclaimed_blobs SET kept_until = ? WHERE hash = ?', [
              ...[now + UNCLAIMED_RETENTION_MS, hash],
            ])
          }
        }
      })
    }
  }

  async #delete(contents: readonly { hash: Uint8Array; before: number }[]): Promise<number> {
    if (contents.length === 0) return 0
    // In steps: deleting a large content takes some milliseconds, and there may be many of them.
    return this.#db.writeInSteps(
      function* (tx) {
        let deleted = 0
        for (const { hash, before } of contents) {
          // `stored_at` is checked again in the write: a delivery may have stored the same content in the meantime.
          const { changes } = tx.run('DELETE FROM blobs WHERE hash = ? AND stored_at < ?', [hash, before])
          if (changes > 0) {
            tx.run('DELETE FROM chunks WHERE hash = ?', [hash])
            forgetDamage(tx, hash)
          }
          deleted += changes
          yield
        }
        return deleted
      },
      { mayUseReserve: true },
    )
  }

  /** All hashes, for integrity checks. */
  async hashes(): Promise<Uint8Array[]> {
    const rows = await this.#db.scan.all<{ hash: Uint8Array }>('SELECT hash FROM blobs')
    return rows.map((row) => row.hash)
  }
}

/** Space that was released for deleting is not for new content. */
function diskFull(): Error {
  return Object.assign(new Error('The disk is full, and its reserve is released.'), { code: 'ENOSPC' })
}

function isSmall({ sizeBytes, chunks }: StoredContent): boolean {
  return sizeBytes <= SMALL_BYTES && chunks.length <= 1
}

/** Inserts contents of at most one chunk each. */
function insertContents(tx: Tx, contents: readonly StoredContent[], now: number): void {
  const distinct = new Map(contents.map((content) => [hexOf(content.hash), content]))
  const isNew = new Set<string>()
  inPieces(
    [...distinct.values()].map(({ hash, sizeBytes }) => [hash, sizeBytes, now]),
    (marks, values) => {
      const sql = `INSERT OR IGNORE INTO blobs (hash, size_bytes, stored_at) VALUES ${marks} RETURNING hash`
      for (const { hash } of tx.all<{ hash: Uint8Array }>(sql, values)) isNew.add(hexOf(hash))
    },
  )
  const chunks: Row[] = []
  for (const [key, content] of distinct) {
    if (isNew.has(key)) chunks.push(...content.chunks.map((chunk) => chunkRow(content.hash, chunk)))
    else if (touch(tx, content, now)) chunks.push(...content.chunks.map((chunk) => chunkRow(content.hash, chunk)))
  }
  insertMany(tx, 'chunks', chunks)
}

function chunkRow(hash: Uint8Array, { start, sizeBytes, zstd, data }: Chunk): Row {
  return { hash, start, size_bytes: sizeBytes, zstd, data }
}

/**
 * Content that exists already is kept, unless it was found damaged: then it is replaced by the same bytes.
 * @returns whether its chunks have to be inserted
 */
function touch(tx: Tx, { hash, chunks }: StoredContent, now: number): boolean {
  tx.run('UPDATE blobs SET stored_at = ? WHERE hash = ?', [now, hash])
  if (chunks.length === 0 || !isNotedDamaged(tx, hash)) return false
  tx.run('DELETE FROM chunks WHERE hash = ?', [hash])
  forgetDamage(tx, hash)
  return true
}

/** The SHA-256 of each chunk; null for content of one chunk, which its hash verifies. */
function digestsOf(chunks: readonly Chunk[]): Uint8Array | null {
  const digests = chunks.flatMap(({ digest }) => (digest === undefined ? [] : [digest]))
  return digests.length === chunks.length && chunks.length > 0 ? Buffer.concat(digests) : null
}

/** Yields after each chunk: one of 1 MiB takes some milliseconds. */
function* insertContent(tx: Tx, content: StoredContent, now: number): Steps<void> {
  const { hash, sizeBytes, chunks } = content
  const { changes } = tx.run(
    'INSERT OR IGNORE INTO blobs (hash, size_bytes, stored_at, chunk_digests) VALUES (?, ?, ?, ?)',
    [hash, sizeBytes, now, digestsOf(chunks)],
  )
  if (changes === 0 && !touch(tx, content, now)) return
  for (const chunk of chunks) {
    tx.insert('chunks', chunkRow(hash, chunk))
    yield
  }
}

/**
 * Notes content stored since `since` (ms) as unclaimed: the rows that reference it may be in another copy of mail.db.
 * @param token the heartbeat by which that copy is recognized; null when there is none
 */
export function noteUnclaimed(tx: Tx, since: number, token: string | null): void {
  tx.run(
    `INSERT INTO unclaimed_blobs (hash, token) SELECT hash, ? FROM blobs WHERE stored_at >= ?
     ON CONFLICT (hash) DO UPDATE SET token = coalesce(excluded.token, token), kept_until = NULL`,
    [token, since],
  )
}

/** Whether content is unclaimed that a mail.db of this heartbeat may reference. */
export function isClaimedBy(reader: Reader, token: string): boolean {
  return reader.get('SELECT 1 FROM unclaimed_blobs WHERE token = ? LIMIT 1', [token]) !== undefined
}

/** The next contents after `after` (no bytes at first), at most `limit`: for a check of the whole file. */
export function contentSizes(reader: Reader, after: Uint8Array, limit: number): ContentSize[] {
  return reader.all(
    `SELECT hash, size_bytes AS sizeBytes,
       (SELECT coalesce(sum(c.size_bytes), 0) FROM chunks c WHERE c.hash = b.hash) AS storedBytes
     FROM blobs b WHERE hash > ? ORDER BY hash LIMIT ?`,
    [after, limit],
  )
}

/** How many of these distinct hashes are stored. */
export function countStored(reader: Reader, hashes: readonly Uint8Array[]): number {
  const list = placeholders(hashes)
  const row = reader.get<{ count: number }>(`SELECT count(*) AS count FROM blobs WHERE hash IN (${list})`, hashes)
  return row!.count
}

/** Reads the newest blob and chunk. @throws Error of SQLite if their pages are damaged */
export function readNewestContent(reader: Reader): void {
  reader.all('SELECT hash FROM blobs ORDER BY stored_at DESC LIMIT 1')
  reader.all('SELECT * FROM chunks ORDER BY n DESC LIMIT 1')
}
