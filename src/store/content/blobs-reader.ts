// Reads stored content by byte ranges, and compares what is read with the SHA-256 that names it.

import { createHash, hash as hashNow, webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdDecompress, zstdDecompressSync } from 'node:zlib'
import type { Reader } from '../../db/db.ts'
import { CHUNK_BYTES } from '../../mime/chunks.ts'
import { DamagedContent } from './damaged-content.ts'

const decompress = promisify(zstdDecompress)

/** Chunks up to here are decompressed and hashed on the calling thread, where that takes less time than handing them to the thread pool. */
const HERE_BYTES = 64 * 1024
/** Contents up to here can be read without giving way. */
export const SMALL_CONTENT_BYTES = HERE_BYTES
const DIGEST_BYTES = 32
/** Contents whose chunk digests were computed: the newest are remembered. */
const REMEMBERED_MAX = 1000
// https://sqlite.org/rescode.html: SQLITE_CORRUPT with its extended codes, and what the disk answers for an unreadable sector.
const CORRUPT = 11
const UNREADABLE = new Set([266, 522])

/** Content whose length is known, bytes. */
export interface SizedContent {
  /** SHA-256 of its bytes. */
  hash: Uint8Array
  sizeBytes: number
}

interface ChunkRow {
  start: number
  size_bytes: number
  zstd: number
  data: Uint8Array
}

/**
 * Every chunk is verified each time it is read: the only chunk of a content by the SHA-256 of the content, others by the digest of the
 * chunk (`blobs.chunk_digests`). The digests of content that has none are computed with its first read, which verifies it whole, and
 * kept in memory.
 */
export class ContentReader {
  readonly #reader: Reader
  readonly #damaged: (error: DamagedContent) => void
  /** By hash, then by start of the chunk. */
  readonly #computed = new Recent<ReadonlyMap<number, Uint8Array>>()

  /** @param damaged receives each damaged content that is read */
  constructor(reader: Reader, damaged: (error: DamagedContent) => void = () => {}) {
    this.#reader = reader
    this.#damaged = damaged
  }

  /**
   * The bytes from `start` to `end` (exclusive), one chunk in memory at a time.
   * @throws DamagedContent when a chunk is missing or damaged; chunks before it were returned
   */
  async *read(hash: Uint8Array, start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      const chunk = this.#row(hash, at)
      const bytes = await this.#bytesOf(hash, chunk)
      yield bytes.subarray(at - chunk.start, Math.min(end - chunk.start, chunk.size_bytes))
      at = chunk.start + chunk.size_bytes
    }
  }

  /**
   * The same for a range whose length is announced before its bytes are sent: reads all of it first. A range of one chunk is read once,
   * others twice.
   * @throws DamagedContent
   */
  async open(hash: Uint8Array, start: number, end: number): Promise<AsyncIterable<Uint8Array>> {
    const pieces = this.read(hash, start, end)
    const first = await pieces.next()
    if (first.done === true) return noBytes()
    for await (const _ of this.read(hash, start + first.value.length, end));
    return continued(first.value, pieces)
  }

  /**
   * Contents of at most {@link SMALL_CONTENT_BYTES} each, read in one statement. Undefined for what is larger, missing or damaged:
   * {@link read} says which.
   */
  small(contents: readonly SizedContent[]): (Uint8Array | undefined)[] {
    const small: (Uint8Array | undefined)[] = contents.map(() => undefined)
    for (const { at, zstd, data } of this.#smallRows(contents)) {
      const { hash, sizeBytes } = contents[at]!
      const bytes = zstd ? unpacked(data) : data
      if (bytes?.length === sizeBytes && hashNow('sha256', bytes, 'buffer').equals(hash)) small[at] = bytes
    }
    return small
  }

  /** Whether the stored bytes are those that the hash names, and as many. Reads all of them. */
  async isIntact({ hash, sizeBytes }: SizedContent): Promise<boolean> {
    try {
      await this.#verifyWhole(hash, sizeBytes)
      return true
    } catch (error) {
      if (error instanceof DamagedContent) return false
      throw error
    }
  }

  #smallRows(contents: readonly SizedContent[]): { at: number; zstd: number; data: Uint8Array }[] {
    const marks = contents.map((_, at) => `(${at}, ?)`).join(', ')
    try {
      // A cross join is done in the order written: one look-up for each content.
      return this.#reader.all(
        `WITH wanted (at, hash) AS (VALUES ${marks})
         SELECT w.at, c.zstd, c.data FROM wanted w CROSS JOIN chunks c ON c.hash = w.hash AND c.start = 0
         WHERE c.size_bytes <= ${SMALL_CONTENT_BYTES}`,
        contents.map(({ hash }) => hash),
      )
    } catch (error) {
      if (!isDamage(error)) throw error
      // A damaged page of one of them: each is read alone.
      return []
    }
  }

  /** The row of the chunk with the byte `at`. */
  #row(hash: Uint8Array, at: number): ChunkRow {
    const sql =
      'SELECT start, size_bytes, zstd, data FROM chunks WHERE hash = ? AND start <= ? ORDER BY start DESC LIMIT 1'
    const chunk = this.#select<ChunkRow>(hash, sql, [hash, at])
    if (!chunk || chunk.start + chunk.size_bytes <= at) throw this.#damage(hash, `has no byte ${at}`)
    return chunk
  }

  #select<R>(hash: Uint8Array, sql: string, values: readonly (Uint8Array | number)[]): R | undefined {
    try {
      return this.#reader.get<R>(sql, values)
    } catch (error) {
      throw isDamage(error) ? this.#damage(hash, `cannot be read (${(error as Error).message})`) : error
    }
  }

  async #bytesOf(hash: Uint8Array, chunk: ChunkRow): Promise<Uint8Array> {
    const bytes = await this.#unpacked(hash, chunk)
    const digest = await digestOf(bytes)
    const isOnly = chunk.start === 0 && chunk.size_bytes < CHUNK_BYTES
    const expected = isOnly ? hash : (this.#storedDigest(hash, chunk.start) ?? this.#computedDigest(hash, chunk.start))
    if (expected !== undefined && digest.equals(expected)) return bytes
    // Content of an earlier version has no digests of its chunks, and a damaged digest is no damage of the content.
    const size = this.#select<{ size: number }>(hash, 'SELECT size_bytes AS size FROM blobs WHERE hash = ?', [hash])
    if (size === undefined) throw this.#damage(hash, 'has no size')
    const digests = await this.#verifyWhole(hash, size.size)
    this.#computed.set(hexOf(hash), digests)
    if (!digest.equals(digests.get(chunk.start)!)) throw this.#damage(hash, 'changed while it was read')
    return bytes
  }

  #storedDigest(hash: Uint8Array, start: number): Uint8Array | undefined {
    if (this.#computed.has(hexOf(hash))) return undefined
    const sql = 'SELECT chunk_digests AS digests FROM blobs WHERE hash = ?'
    const { digests = null } = this.#select<{ digests: Uint8Array | null }>(hash, sql, [hash]) ?? {}
    const at = (start / CHUNK_BYTES) * DIGEST_BYTES
    return digests === null || digests.length < at + DIGEST_BYTES ? undefined : digests.subarray(at, at + DIGEST_BYTES)
  }

  #computedDigest(hash: Uint8Array, start: number): Uint8Array | undefined {
    return this.#computed.get(hexOf(hash))?.get(start)
  }

  /** @returns the digests of its chunks by start @throws DamagedContent */
  async #verifyWhole(hash: Uint8Array, sizeBytes: number): Promise<ReadonlyMap<number, Uint8Array>> {
    const whole = createHash('sha256')
    const digests = new Map<number, Uint8Array>()
    for (let at = 0; at < sizeBytes; ) {
      const chunk = this.#row(hash, at)
      const bytes = await this.#unpacked(hash, chunk)
      if (chunk.start !== at) throw this.#damage(hash, `has overlapping chunks at byte ${at}`)
      whole.update(bytes)
      digests.set(chunk.start, await digestOf(bytes))
      at += bytes.length
      if (at > sizeBytes) throw this.#damage(hash, `has more than ${sizeBytes} bytes`)
    }
    if (!whole.digest().equals(hash)) throw this.#damage(hash, 'has other bytes than its SHA-256 names')
    return digests
  }

  async #unpacked(hash: Uint8Array, { start, size_bytes: sizeBytes, zstd, data }: ChunkRow): Promise<Uint8Array> {
    let bytes = data
    try {
      if (zstd) bytes = sizeBytes <= HERE_BYTES ? zstdDecompressSync(data) : await decompress(data)
    } catch (error) {
      throw this.#damage(hash, `cannot be decompressed at byte ${start} (${(error as Error).message})`)
    }
    if (bytes.length !== sizeBytes) throw this.#damage(hash, `is cut at byte ${start + bytes.length}`)
    return bytes
  }

  #damage(hash: Uint8Array, problem: string): DamagedContent {
    const error = new DamagedContent(hash, problem)
    this.#damaged(error)
    return error
  }
}

/** Remembers the newest values. */
class Recent<T> {
  readonly #values = new Map<string, T>()

  has(key: string): boolean {
    return this.#values.has(key)
  }

  get(key: string): T | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: T): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > REMEMBERED_MAX) this.#values.delete(this.#values.keys().next().value!)
  }
}

export function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')
}

async function digestOf(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.length <= HERE_BYTES) return hashNow('sha256', bytes, 'buffer')
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
}

function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode ?? 0
  return code % 256 === CORRUPT || UNREADABLE.has(code)
}

/** @returns undefined for damaged bytes */
function unpacked(data: Uint8Array): Uint8Array | undefined {
  try {
    return zstdDecompressSync(data)
  } catch {
    return undefined
  }
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

async function* continued(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* rest
}
