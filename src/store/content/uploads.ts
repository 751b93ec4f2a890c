// Uploads: files to be sent or imported later. They expire after a day unless a message refers to their content.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS, HOUR_MS } from '../../base/durations.ts'
import { conflict, notFound } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Db, Reader, Tx } from '../../db/db.ts'
import { placeholders } from '../../db/sql-text.ts'
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

/** A file to add; its content is in the blob store. */
export interface NewUpload {
  filename: string
  contentType: string
  sizeBytes: number
  /** SHA-256 of the content. */
  sha256: Uint8Array
}

export interface Upload extends NewUpload {
  id: string
  /** Blob id of the content. */
  blobId: string
  /** ms. */
  createdAt: number
  /** When it expires, ms; null while a message of the mailbox has the same content. */
  expiresAt: number | null
}

interface UploadRow {
  n: number
  id: string
  account: number
  blob_name: string
  filename: string
  content_type: string
  size_bytes: number
  sha256: Uint8Array
  created_at: number
  expires_at: number
}

interface Deps {
  db: Db
  clock: Clock
  names: BlobNames
  /** The names among `names` that are of content in messages of an account. */
  namesInUse(reader: Reader, account: Pick<Account, 'n'>, names: readonly string[]): Set<string>
}

const COLUMNS = 'n, id, account, blob_name, filename, content_type, size_bytes, sha256, created_at, expires_at'

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
    const row = {
      id: newId('attachment'),
      account: account.n,
      blob_name: this.#deps.names.of(account.mailboxId)(upload.sha256),
      filename: upload.filename,
      content_type: upload.contentType,
      size_bytes: upload.sizeBytes,
      sha256: upload.sha256,
      created_at: now,
      expires_at: now + UPLOAD_LIFE_MS,
    }
    const n = tx.insert('uploads', row)
    return this.#present(tx, account, { n, ...row })
  }

  /** Undefined if the mailbox has no such upload, or it has expired. */
  get(account: Account, id: string, reader: Reader = this.#deps.db.read): Upload | undefined {
    const row = reader.get<UploadRow>(`SELECT ${COLUMNS} FROM uploads WHERE id = ? AND account = ?`, [id, account.n])
    return row && this.#unlessExpired(reader, account, row)
  }

  /** The newest upload with a blob id. */
  byBlobId(account: Account, blobId: string, reader: Reader = this.#deps.db.read): Upload | undefined {
    const row = reader.get<UploadRow>(
      `SELECT ${COLUMNS} FROM uploads WHERE account = ? AND blob_name = ? ORDER BY expires_at DESC, n DESC LIMIT 1`,
      [account.n, blobId],
    )
    return row && this.#unlessExpired(reader, account, row)
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
    return { files: rows.length, bytes: rows.reduce((sum, row) => sum + row.size_bytes, 0) }
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
    const rows = tx.all<UploadRow>(`SELECT ${COLUMNS} FROM uploads WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`, [
      now,
      ROWS_PER_BATCH,
    ])
    let deleted = 0
    for (const [account, own] of Map.groupBy(rows, (row) => row.account)) {
      const inUse = this.#namesInUse(tx, { n: account }, own)
      for (const { n, blob_name } of own) {
        if (inUse.has(blob_name)) {
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
    let sum = rows.reduce((total, row) => total + row.size_bytes, bytes)
    const isFull = () => files > PENDING_FILES_MAX || sum > PENDING_BYTES_MAX
    if (!isFull()) return
    const old = this.#deps.clock.now() - EVICTED_FROM_MS
    for (const row of rows) {
      if (!isFull()) return
      if (row.created_at > old) break
      tx.run('DELETE FROM uploads WHERE n = ?', [row.n])
      files--
      sum -= row.size_bytes
    }
    if (isFull())
      throw conflict('Too many uploads are pending. Use or delete some, or wait until they are an hour old.')
  }

  /** Unused uploads, oldest first. */
  #pendingRows(reader: Reader, account: Account): UploadRow[] {
    const rows = reader.all<UploadRow>(
      `SELECT ${COLUMNS} FROM uploads WHERE account = ? AND expires_at > ? ORDER BY created_at, n`,
      [account.n, this.#deps.clock.now()],
    )
    const inUse = this.#namesInUse(reader, account, rows)
    return rows.filter(({ blob_name }) => !inUse.has(blob_name))
  }

  #namesInUse(reader: Reader, account: Pick<Account, 'n'>, rows: readonly UploadRow[]): Set<string> {
    return this.#deps.namesInUse(reader, account, [...new Set(rows.map((row) => row.blob_name))])
  }

  #unlessExpired(reader: Reader, account: Account, row: UploadRow): Upload | undefined {
    const upload = this.#present(reader, account, row)
    const isExpired = upload.expiresAt !== null && upload.expiresAt <= this.#deps.clock.now()
    return isExpired ? undefined : upload
  }

  #present(reader: Reader, account: Account, row: UploadRow): Upload {
    const isInUse = this.#namesInUse(reader, account, [row]).size > 0
    return {
      id: row.id,
      blobId: row.blob_name,
      filename: row.filename,
      contentType: row.content_type,
      sizeBytes: row.size_bytes,
      sha256: row.sha256,
      createdAt: row.created_at,
      expiresAt: isInUse ? null : row.expires_at,
    }
  }
}

/** The next contents of uploads after number `after` (0 at first), at most `limit`, for integrity checks. */
export function uploadContents(reader: Reader, after: number, limit: number): NamedContent[] {
  return reader.all('SELECT n, sha256 AS hash FROM uploads WHERE n > ? ORDER BY n LIMIT ?', [after, limit])
}
