// Uploads: files to be sent or imported later. They expire after a day unless a message refers to their content.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../../base/durations.ts'
import { conflict, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
import { bytes, integer, key, type RecordOf, table, text, time } from '../../db/table.ts'
import type { Account } from '../rows/records.ts'
import type { BlobNames } from './blob-names.ts'
import type { NamedContent } from './blobs.ts'

/** docs/design/mailbox.md §10. */
export const UPLOAD_LIFE_MS = DAY_MS
export const PENDING_BYTES_MAX = 100 * 1024 * 1024
export const PENDING_FILES_MAX = 1000
/** A pending upload of at least this age is evicted by a new one, ms. */
export const EVICTED_FROM_MS = HOUR_MS
const ROWS_PER_BATCH = 200

export const UPLOADS = table('uploads', {
  n: key(),
  id: text(),
  account: integer(),
  /** Blob id of the content. */
  blob_name: text().as('blob_id'),
  filename: text(),
  content_type: text(),
  size_bytes: integer(),
  /** SHA-256 of the content. */
  sha256: bytes(),
  created_at: time(),
  expires_at: time(),
})
type StoredUpload = RecordOf<typeof UPLOADS>

/** A file to add; its content is in the blob store. */
export type NewUpload = Pick<StoredUpload, 'filename' | 'contentType' | 'sizeBytes' | 'sha256'>

export interface Upload extends Omit<StoredUpload, 'n' | 'account' | 'expiresAt'> {
  /** When it expires, ms; null while a message of the mailbox has the same content. */
  expiresAt: number | null
}

interface Deps {
  db: Db
  clock: Clock
  names: BlobNames
  /** The names among `names` that are of content in messages of an account. */
  namesInUse(reader: Reader, account: Pick<Account, 'n'>, names: readonly string[]): Set<string>
}

export class Uploads {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Adds a file whose content is already in the blob store.
   * @throws ProductError conflict if too many uploads are pending and none of them is an hour old
   */
  add(tx: Tx, account: Account, upload: NewUpload): Upload {
    this.#makeRoom(tx, account, upload.sizeBytes)
    const now = this.#deps.clock.now()
    const stored = {
      ...upload,
      id: newId('attachment'),
      account: account.n,
      blobId: this.#deps.names.of(account.mailboxId)(upload.sha256),
      createdAt: now,
      expiresAt: now + UPLOAD_LIFE_MS,
    }
    return this.#present(tx, account, { ...stored, n: UPLOADS.insert(tx, stored) })
  }

  /** Undefined if the mailbox has no such upload, or it has expired. */
  get(account: Account, id: string, reader: Reader = this.#deps.db.read): Upload | undefined {
    const stored = UPLOADS.get(reader, 'WHERE id = ? AND account = ?', [id, account.n])
    return stored && this.#unlessExpired(reader, account, stored)
  }

  /** The newest upload with a blob id. */
  byBlobId(account: Account, blobId: string, reader: Reader = this.#deps.db.read): Upload | undefined {
    const rest = 'WHERE account = ? AND blob_name = ? ORDER BY expires_at DESC, n DESC LIMIT 1'
    const stored = UPLOADS.get(reader, rest, [account.n, blobId])
    return stored && this.#unlessExpired(reader, account, stored)
  }

  /**
   * Deletes a file that no message uses.
   * @param check checks a precondition on the current upload
   * @throws ProductError not_found; conflict while a message has its content
   */
  remove(tx: Tx, account: Account, id: string, check: (current: Upload) => void): void {
    const current = this.get(account, id, tx)
    if (current === undefined) throw notFound('attachment')
    check(current)
    if (current.expiresAt === null) throw conflict('A message uses this upload. It is deleted with the message.')
    tx.run('DELETE FROM uploads WHERE id = ?', [id])
  }

  /** Number and bytes of the uploads that no message uses. */
  pending(account: Account, reader: Reader = this.#deps.db.read): { files: number; bytes: number } {
    const rows = this.#pendingRows(reader, account)
    return { files: rows.length, bytes: rows.reduce((sum, row) => sum + row.sizeBytes, 0) }
  }

  /** Deletes expired uploads in batches; the expiry of uploads in use is moved by a day. @returns how many were deleted */
  async expire(signal: AbortSignal): Promise<number> {
    let deleted = 0
    while (!signal.aborted) {
      const batch = await this.#deps.db.writeFreeing((tx) => this.#expireNext(tx))
      deleted += batch.deleted
      if (batch.rows < ROWS_PER_BATCH) break
    }
    return deleted
  }

  /** The hashes that an upload refers to, as hex. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const rows = await this.#deps.db.scan.all<{ sha256: Uint8Array }>(
      `SELECT DISTINCT sha256 FROM uploads WHERE sha256 IN (${placeholders(hashes)})`,
      hashes,
    )
    return new Set(rows.map(({ sha256 }) => Buffer.from(sha256).toString('hex')))
  }

  /** Deletes the next uploads of a deleted account. See `PurgeStep`. */
  purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): number {
    const { changes } = tx.run('DELETE FROM uploads WHERE n IN (SELECT n FROM uploads WHERE account = ? LIMIT ?)', [
      account.n,
      limit,
    ])
    return changes
  }

  #expireNext(tx: Tx): { rows: number; deleted: number } {
    const now = this.#deps.clock.now()
    const rows = UPLOADS.all(tx, 'WHERE expires_at <= ? ORDER BY expires_at LIMIT ?', [now, ROWS_PER_BATCH])
    let deleted = 0
    for (const [account, own] of Map.groupBy(rows, (row) => row.account)) {
      const inUse = this.#namesInUse(tx, { n: account }, own)
      for (const { n, blobId } of own) {
        if (inUse.has(blobId)) {
          tx.run('UPDATE uploads SET expires_at = ? WHERE n = ?', [now + UPLOAD_LIFE_MS, n])
          continue
        }
        tx.run('DELETE FROM uploads WHERE n = ?', [n])
        deleted++
      }
    }
    return { rows: rows.length, deleted }
  }

  #makeRoom(tx: Tx, account: Account, bytes: number): void {
    const rows = this.#pendingRows(tx, account)
    let files = rows.length + 1
    let sum = rows.reduce((total, row) => total + row.sizeBytes, bytes)
    const isFull = () => files > PENDING_FILES_MAX || sum > PENDING_BYTES_MAX
    if (!isFull()) return
    const old = this.#deps.clock.now() - EVICTED_FROM_MS
    for (const row of rows) {
      if (!isFull()) return
      if (row.createdAt > old) break
      tx.run('DELETE FROM uploads WHERE n = ?', [row.n])
      files--
      sum -= row.sizeBytes
    }
    if (isFull())
      throw conflict('Too many uploads are pending. Use or delete some, or wait until they are an hour old.')
  }

  /** Unused uploads, oldest first. */
  #pendingRows(reader: Reader, account: Account): StoredUpload[] {
    const rest = 'WHERE account = ? AND expires_at > ? ORDER BY created_at, n'
    const rows = UPLOADS.all(reader, rest, [account.n, this.#deps.clock.now()])
    const inUse = this.#namesInUse(reader, account, rows)
    return rows.filter(({ blobId }) => !inUse.has(blobId))
  }

  #namesInUse(reader: Reader, account: Pick<Account, 'n'>, rows: readonly StoredUpload[]): Set<string> {
    return this.#deps.namesInUse(reader, account, [...new Set(rows.map(({ blobId }) => blobId))])
  }

  #unlessExpired(reader: Reader, account: Account, stored: StoredUpload): Upload | undefined {
    const upload = this.#present(reader, account, stored)
    const isExpired = upload.expiresAt !== null && upload.expiresAt <= this.#deps.clock.now()
    return isExpired ? undefined : upload
  }

  #present(reader: Reader, account: Account, stored: StoredUpload): Upload {
    const isInUse = this.#namesInUse(reader, account, [stored]).size > 0
    const { n: _n, account: _account, ...upload } = stored
    return { ...upload, expiresAt: isInUse ? null : upload.expiresAt }
  }
}

/** The next contents of uploads after number `after` (0 at first), at most `limit`, for integrity checks. */
export function uploadContents(reader: Reader, after: number, limit: number): NamedContent[] {
  return reader.all('SELECT n, sha256 AS hash FROM uploads WHERE n > ? ORDER BY n LIMIT ?', [after, limit])
}
