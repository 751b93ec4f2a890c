// Files a mailbox was given beforehand, to be sent or imported later: kept a day unless something names their content.

import type { Clock } from '../base/clock.ts'
import { conflict, notFound } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import type { Db, Reader, Tx } from '../db/db.ts'
import type { BlobNames } from './blob-names.ts'
import type { NamedContent } from './blobs.ts'
import type { Account } from './records.ts'

/** Decisions §10.10. */
export const UPLOAD_LIFE_MS = 24 * 60 * 60 * 1000
export const PENDING_BYTES_MAX = 100 * 1024 * 1024
export const PENDING_FILES_MAX = 1000
/** A pending upload of that age makes room for a new one. */
export const EVICTED_FROM_MS = 60 * 60 * 1000
const PIECE = 200

/** What a file is given as; its content is in the content store. */
export interface NewUpload {
  filename: string
  contentType: string
  sizeBytes: number
  /** SHA-256 of the content. */
  sha256: Uint8Array
}

export interface Upload extends NewUpload {
  id: string
  /** Public name of the content. */
  blobId: string
  /** ms. */
  createdAt: number
  /** When it goes; null while a message of the mailbox holds the same content. ms. */
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
  /** Which of these names the messages of an account hold content of. */
  heldNames(reader: Reader, account: Pick<Account, 'n'>, names: readonly string[]): Promise<Set<string>>
}

const COLUMNS = 'n, id, account, blob_name, filename, content_type, size_bytes, sha256, created_at, expires_at'

export class Uploads {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Keeps a file whose content was put into the content store before.
   * @throws ProductError conflict when too much waits to be used and none of it is an hour old
   */
  async add(tx: Tx, account: Account, upload: NewUpload): Promise<Upload> {
    await this.#makeRoom(tx, account, upload.sizeBytes)
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
    const n = await tx.insert('uploads', row)
    return this.#present(tx, account, { n, ...row })
  }

  /** Undefined when the mailbox has no such upload, or has it no longer. */
  async get(account: Account, id: string, reader: Reader = this.#deps.db.read): Promise<Upload | undefined> {
    const row = await reader.get<UploadRow>(`SELECT ${COLUMNS} FROM uploads WHERE id = ? AND account = ?`, [
      id,
      account.n,
    ])
    return row && this.#living(reader, account, row)
  }

  /** The newest upload whose content has that public name. */
  async byBlobId(account: Account, blobId: string, reader: Reader = this.#deps.db.read): Promise<Upload | undefined> {
    const row = await reader.get<UploadRow>(
      `SELECT ${COLUMNS} FROM uploads WHERE account = ? AND blob_name = ? ORDER BY expires_at DESC, n DESC LIMIT 1`,
      [account.n, blobId],
    )
    return row && this.#living(reader, account, row)
  }

  /**
   * Gives up a file that nothing uses yet.
   * @param matches held against the upload as it is
   * @throws ProductError not_found; conflict while a message holds its content
   */
  async remove(tx: Tx, account: Account, id: string, matches: (current: Upload) => void): Promise<void> {
    const current = await this.get(account, id, tx)
    if (current === undefined) throw notFound('attachment')
    matches(current)
    if (current.expiresAt === null) throw conflict('The upload is used by a message and goes with it.')
    await tx.run('DELETE FROM uploads WHERE id = ?', [id])
  }

  /** Files nothing uses yet, and their bytes. */
  async pending(account: Account, reader: Reader = this.#deps.db.read): Promise<{ files: number; bytes: number }> {
    const rows = await this.#pendingRows(reader, account)
    return { files: rows.length, bytes: rows.reduce((sum, row) => sum + row.size_bytes, 0) }
  }

  /** Lets go of what nobody used in its time, in pieces; what is used is looked at again a day later. @returns how many went */
  async expire(signal: AbortSignal): Promise<number> {
    let gone = 0
    while (!signal.aborted) {
      const seen = await this.#deps.db.write((tx) => this.#expireNext(tx))
      gone += seen.gone
      if (seen.rows < PIECE) break
    }
    return gone
  }

  /** Which of these contents an upload names, in hex. */
  async namedBlobs(hashes: readonly Uint8Array[]): Promise<Set<string>> {
    if (hashes.length === 0) return new Set()
    const rows = await this.#deps.db.scan.all<{ sha256: Uint8Array }>(
      `SELECT DISTINCT sha256 FROM uploads WHERE sha256 IN (${hashes.map(() => '?').join(', ')})`,
      hashes,
    )
    return new Set(rows.map(({ sha256 }) => Buffer.from(sha256).toString('hex')))
  }

  /** Forgets the next uploads of an account that ends for good. See `PurgePart`. */
  async purgeIn(tx: Tx, account: Pick<Account, 'n'>, limit: number): Promise<number> {
    const { changes } = await tx.run(
      'DELETE FROM uploads WHERE n IN (SELECT n FROM uploads WHERE account = ? LIMIT ?)',
      [account.n, limit],
    )
    return changes
  }

  async #expireNext(tx: Tx): Promise<{ rows: number; gone: number }> {
    const now = this.#deps.clock.now()
    const rows = await tx.all<UploadRow>(
      `SELECT ${COLUMNS} FROM uploads WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`,
      [now, PIECE],
    )
    let gone = 0
    for (const [account, own] of Map.groupBy(rows, (row) => row.account)) {
      const held = await this.#held(tx, { n: account }, own)
      for (const { n, blob_name } of own) {
        if (held.has(blob_name)) {
          await tx.run('UPDATE uploads SET expires_at = ? WHERE n = ?', [now + UPLOAD_LIFE_MS, n])
          continue
        }
        await tx.run('DELETE FROM uploads WHERE n = ?', [n])
        gone++
      }
    }
    return { rows: rows.length, gone }
  }

  async #makeRoom(tx: Tx, account: Account, bytes: number): Promise<void> {
    const rows = await this.#pendingRows(tx, account)
    let files = rows.length + 1
    let sum = rows.reduce((total, row) => total + row.size_bytes, bytes)
    const isFull = () => files > PENDING_FILES_MAX || sum > PENDING_BYTES_MAX
    if (!isFull()) return
    const old = this.#deps.clock.now() - EVICTED_FROM_MS
    for (const row of rows) {
      if (!isFull()) return
      if (row.created_at > old) break
      await tx.run('DELETE FROM uploads WHERE n = ?', [row.n])
      files--
      sum -= row.size_bytes
    }
    if (isFull())
      throw conflict('Too many uploads wait to be used; use or delete some, or wait until they are an hour old.')
  }

  /** The oldest first. */
  async #pendingRows(reader: Reader, account: Account): Promise<UploadRow[]> {
    const rows = await reader.all<UploadRow>(
      `SELECT ${COLUMNS} FROM uploads WHERE account = ? AND expires_at > ? ORDER BY created_at, n`,
      [account.n, this.#deps.clock.now()],
    )
    const held = await this.#held(reader, account, rows)
    return rows.filter(({ blob_name }) => !held.has(blob_name))
  }

  #held(reader: Reader, account: Pick<Account, 'n'>, rows: readonly UploadRow[]): Promise<Set<string>> {
    return this.#deps.heldNames(reader, account, [...new Set(rows.map((row) => row.blob_name))])
  }

  async #living(reader: Reader, account: Account, row: UploadRow): Promise<Upload | undefined> {
    const upload = await this.#present(reader, account, row)
    const isOver = upload.expiresAt !== null && upload.expiresAt <= this.#deps.clock.now()
    return isOver ? undefined : upload
  }

  async #present(reader: Reader, account: Account, row: UploadRow): Promise<Upload> {
    const isHeld = (await this.#held(reader, account, [row])).size > 0
    return {
      id: row.id,
      blobId: row.blob_name,
      filename: row.filename,
      contentType: row.content_type,
      sizeBytes: row.size_bytes,
      sha256: row.sha256,
      createdAt: row.created_at,
      expiresAt: isHeld ? null : row.expires_at,
    }
  }
}

/** The next contents of uploads after number `after` (0 at first), at most `limit`: for a check of the whole file. */
export function uploadContents(reader: Reader, after: number, limit: number): Promise<NamedContent[]> {
  return reader.all('SELECT n, sha256 AS hash FROM uploads WHERE n > ? ORDER BY n LIMIT ?', [after, limit])
}
