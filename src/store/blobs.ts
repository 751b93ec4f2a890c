// The blob store: content stored once by its SHA-256, in compressed chunks, and read by byte ranges.

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdDecompress, zstdDecompressSync } from 'node:zlib'
import type { Clock } from '../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../base/durations.ts'
import { ProductError } from '../base/errors.ts'
import { WriteBatches } from '../base/write-batches.ts'
import type { Db, Reader, Row, Steps, Tx } from '../db/db.ts'
import { inPieces, insertMany } from '../db/many-rows.ts'
import { placeholders } from '../db/sql-text.ts'
import type { Chunk } from '../mime/message.ts'

const decompress = promisify(zstdDecompress)

// A blob is written before the row that refers to it. Younger blobs without a row may belong to a delivery in progress.
export const SWEEP_GRACE_MS = HOUR_MS
const SWEEP_BATCH = 500
/** Larger contents are written alone. */
const SMALL_BYTES = 128 * 1024
const SMALL_BATCH = 32
/** Chunks up to here are decompressed on the calling thread, where that takes less time than handing them to the thread pool. */
const HERE_BYTES = 64 * 1024
/** Contents up to here can be read without giving way. */
export const SMALL_CONTENT_BYTES = HERE_BYTES
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

/** Content whose length is known, bytes. */
export type SizedContent = Pick<StoredContent, 'hash' | 'sizeBytes'>

/** Reading alone, as {@link Blobs} does it. */
export type BlobReads = Pick<Blobs, 'read' | 'small'>

/** Reads contents through any connection to blobs.db. */
export function blobReads(reader: Reader): BlobReads {
  return {
    read: (hash, start, end) => readContent(reader, hash, start, end),
    small: (contents) => readSmall(reader, contents),
  }
}

export class Blobs {
  readonly #db: Db
  readonly #clock: Clock
  readonly #small: WriteBatches<StoredContent>

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
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
    const content = { hash, sizeBytes, chunks }
    return isSmall(content) ? this.#small.write(content) : this.putAll([content])
  }

  /** {@link put} for several contents in one unit of work. */
  putAll(contents: readonly StoredContent[]): Promise<void> {
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

  /**
   * The bytes from `start` to `end` (exclusive), one chunk in memory at a time.
   * @throws ProductError service_unavailable when a chunk is missing or damaged
   */
  read(hash: Uint8Array, start: number, end: number): AsyncGenerator<Uint8Array> {
    return readContent(this.#db.read, hash, start, end)
  }

  /**
   * Contents of at most {@link SMALL_CONTENT_BYTES} each, read in one statement. Undefined for what is larger, missing or damaged:
   * {@link read} says which.
   */
  small(contents: readonly SizedContent[]): (Uint8Array | undefined)[] {
    return readSmall(this.#db.read, contents)
  }

  /** {@link read} into memory: only for ranges known to be small. */
  async bytes(hash: Uint8Array, start: number, end: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.read(hash, start, end)) pieces.push(piece)
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
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
    return this.#db.writeInSteps(function* (tx) {
      let deleted = 0
      for (const { hash, before } of contents) {
        // `stored_at` is checked again in the write: a delivery may have stored the same content in the meantime.
        const { changes } = tx.run('DELETE FROM blobs WHERE hash = ? AND stored_at < ?', [hash, before])
        if (changes > 0) tx.run('DELETE FROM chunks WHERE hash = ?', [hash])
        deleted += changes
        yield
      }
      return deleted
    })
  }

  /** All hashes, for integrity checks. */
  async hashes(): Promise<Uint8Array[]> {
    const rows = await this.#db.scan.all<{ hash: Uint8Array }>('SELECT hash FROM blobs')
    return rows.map((row) => row.hash)
  }
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
    else touch(tx, content.hash, now)
  }
  insertMany(tx, 'chunks', chunks)
}

function chunkRow(hash: Uint8Array, { start, sizeBytes, zstd, data }: Chunk): Row {
  return { hash, start, size_bytes: sizeBytes, zstd, data }
}

function touch(tx: Tx, hash: Uint8Array, now: number): void {
  tx.run('UPDATE blobs SET stored_at = ? WHERE hash = ?', [now, hash])
}

function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')
}

/** Yields after each chunk: one of 1 MiB takes some milliseconds. */
function* insertContent(tx: Tx, { hash, sizeBytes, chunks }: StoredContent, now: number): Steps<void> {
  const { changes } = tx.run('INSERT OR IGNORE INTO blobs (hash, size_bytes, stored_at) VALUES (?, ?, ?)', [
    hash,
    sizeBytes,
    now,
  ])
  if (changes === 0) return touch(tx, hash, now)
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

/** See {@link Blobs.read}. */
async function* readContent(reader: Reader, hash: Uint8Array, start: number, end: number): AsyncGenerator<Uint8Array> {
  let at = start
  while (at < end) {
    const chunk = await reader.get<{ start: number; size_bytes: number; zstd: number; data: Uint8Array }>(
      'SELECT start, size_bytes, zstd, data FROM chunks WHERE hash = ? AND start <= ? ORDER BY start DESC LIMIT 1',
      [hash, at],
    )
    if (!chunk || chunk.start + chunk.size_bytes <= at) throw damagedContent(hash, `has no byte ${at}`)
    const data = await decompressed(hash, chunk)
    if (data.length !== chunk.size_bytes) throw damagedContent(hash, `is cut at byte ${chunk.start + data.length}`)
    yield data.subarray(at - chunk.start, Math.min(end - chunk.start, chunk.size_bytes))
    at = chunk.start + chunk.size_bytes
  }
}

/** See {@link Blobs.small}. */
function readSmall(reader: Reader, contents: readonly SizedContent[]): (Uint8Array | undefined)[] {
  const marks = contents.map((_, at) => `(${at}, ?)`).join(', ')
  // A cross join is done in the order written: one look-up for each content.
  const rows = reader.all<{ at: number; zstd: number; data: Uint8Array }>(
    `WITH wanted (at, hash) AS (VALUES ${marks})
     SELECT w.at, c.zstd, c.data FROM wanted w CROSS JOIN chunks c ON c.hash = w.hash AND c.start = 0
     WHERE c.size_bytes <= ${SMALL_CONTENT_BYTES}`,
    contents.map(({ hash }) => hash),
  )
  const found: (Uint8Array | undefined)[] = contents.map(() => undefined)
  for (const { at, zstd, data } of rows) {
    const bytes = zstd ? unpacked(data) : data
    if (bytes?.length === contents[at]!.sizeBytes) found[at] = bytes
  }
  return found
}

/** @returns undefined for damaged bytes */
function unpacked(data: Uint8Array): Uint8Array | undefined {
  try {
    return zstdDecompressSync(data)
  } catch {
    return undefined
  }
}

/** @throws ProductError service_unavailable */
async function decompressed(
  hash: Uint8Array,
  { start, size_bytes: sizeBytes, zstd, data }: { start: number; size_bytes: number; zstd: number; data: Uint8Array },
): Promise<Uint8Array> {
  if (!zstd) return data
  try {
    return sizeBytes <= HERE_BYTES ? zstdDecompressSync(data) : await decompress(data)
  } catch (error) {
    throw damagedContent(hash, `cannot be decompressed at byte ${start}: ${(error as Error).message}`)
  }
}

function damagedContent(hash: Uint8Array, problem: string): ProductError {
  const sentence = 'Content in blobs.db is missing or damaged. The operator has to restore a backup.'
  const cause = new Error(`Content ${hexOf(hash)} ${problem}: blobs.db is damaged or incomplete.`)
  return new ProductError('service_unavailable', sentence, { cause })
}

/** Whether the stored bytes are those that the hash names. Reads all of them. */
export async function isIntact(reader: Reader, { hash, sizeBytes }: ContentSize): Promise<boolean> {
  const sum = createHash('sha256')
  try {
    for await (const piece of readContent(reader, hash, 0, sizeBytes)) sum.update(piece)
  } catch {
    return false
  }
  return sum.digest().equals(hash)
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
