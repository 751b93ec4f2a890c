// Content of a mailbox (messages, attachments, uploads): lookup by blob id or file id, and reading of byte ranges.

import type { Db, Reader } from '../../db/db.ts'
import { decodeStream, type TransferDecoder } from '../../mime/transfer-stream.ts'
import type { BlobNames } from '../content/blob-names.ts'
import type { Blobs } from '../content/blobs.ts'
import type { Upload, Uploads } from '../content/uploads.ts'
import { threadIdsOf } from '../entries/thread-rows.ts'
import {
  accountWithUnnamedContent,
  attachmentById,
  type BlobRange,
  contentByName,
  hasUnnamedContent,
  holdersOf,
  nameNextContents,
  namesInMessages,
  type StoredAttachment,
} from '../messages/contents.ts'
import type { Accounts } from '../rows/accounts.ts'
import { folderIdsOf } from '../rows/folders.ts'
import type { Account, Attachment } from '../rows/records.ts'

export type { BlobRange } from '../messages/contents.ts'

// A name takes about 10 µs to compute: a batch blocks other writes no longer than a delivery does.
const NAMES_PER_BATCH = 200
/** Maximum number of messages listed as references of a blob: an image in a signature can be in every message of a mailbox. */
export const HOLDERS_MAX = 100
const NAMES_PER_QUERY = 400

/** What the content belongs to. */
export type ContentSource =
  | { kind: 'message'; messageId: string }
  | { kind: 'attachment'; messageId: string; partId: string }
  | { kind: 'upload'; uploadId: string }

export interface FoundContent {
  /** SHA-256 of the content, decoded. */
  hash: Uint8Array
  /** Decoded. */
  sizeBytes: number
  type: string
  filename: string
  source: ContentSource
  range: BlobRange
}

/** A file with an id of its own: an attachment of a message, or an upload, which belongs to no message. */
export interface StoredFile extends Omit<Attachment, 'messageId' | 'partId'> {
  messageId: string | null
  partId: string | null
  /** ms. */
  createdAt: number
  /** When it expires, ms; null: it is deleted with its message. */
  expiresAt: number | null
  range: BlobRange
}

/** Public ids of what refers to a blob. */
export interface ContentReferences {
  found: boolean
  messages: string[]
  threads: string[]
  folders: string[]
}

/** Bytes as they are stored. */
export interface EncodedBytes {
  bytes: Uint8Array
  /** Their Content-Transfer-Encoding; null: none. */
  encoding: string | null
}

interface Deps {
  db: Db
  blobs: Blobs
  accounts: Accounts
  names: BlobNames
  uploads: Uploads
}

export class Contents {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The newest content with a blob id; undefined if the mailbox has none. */
  async find(account: Account, blobId: string): Promise<FoundContent | undefined> {
    await this.#nameAll(account)
    const { db, uploads } = this.#deps
    const found = contentByName(db.read, account, blobId)
    if (found === undefined) return uploadContent(uploads.byBlobId(account, blobId))
    const { messageId, partId, ...content } = found
    const source: ContentSource =
      partId === null ? { kind: 'message', messageId } : { kind: 'attachment', messageId, partId }
    return { ...content, source }
  }

  /** An attachment or upload by its id; undefined if the mailbox has none. */
  file(account: Account, id: string): StoredFile | undefined {
    const attachment: StoredAttachment | undefined = attachmentById(this.#deps.db.read, account, id)
    if (attachment !== undefined) return { ...attachment, expiresAt: null }
    const upload = this.#deps.uploads.get(account, id)
    return upload && uploadedFile(upload)
  }

  /** Whether the mailbox has content with a blob id, and what refers to it: at most the newest HOLDERS_MAX messages. */
  async references(account: Account, blobId: string): Promise<ContentReferences> {
    await this.#nameAll(account)
    const { db, uploads } = this.#deps
    const holders = holdersOf(db.read, account, blobId, HOLDERS_MAX)
    if (holders.length === 0) {
      const upload = uploads.byBlobId(account, blobId)
      return { found: upload !== undefined, messages: [], threads: [], folders: [] }
    }
    const threads = threadIdsOf(db.read, [...new Set(holders.map(({ thread }) => thread))])
    const folders = folderIdsOf(
      db.read,
      holders.map(({ n }) => n),
    )
    return {
      found: true,
      messages: holders.map(({ messageId }) => messageId),
      threads: [...threads.values()],
      folders: [...new Set([...folders.values()].flat())],
    }
  }

  /** The bytes as stored, read into memory: only for content known to be small. */
  async stored({ blob, start, end, encoding }: BlobRange): Promise<EncodedBytes> {
    return { bytes: await this.#deps.blobs.bytes(blob, start, end), encoding }
  }

  /** Streams the decoded bytes from `start` to `end` (exclusive). */
  read(range: BlobRange, start: number, end: number): AsyncIterable<Uint8Array> {
    const { blobs } = this.#deps
    const decoder = decodeStream(range.encoding)
    if (decoder === null) return blobs.read(range.blob, range.start + start, range.start + end)
    return decodedRange(blobs.read(range.blob, range.start, range.end), decoder, start, end)
  }

  /** The same, verified before the first byte is returned. @throws DamagedContent */
  async open(range: BlobRange, start: number, end: number): Promise<AsyncIterable<Uint8Array>> {
    const { blobs } = this.#deps
    const decoder = decodeStream(range.encoding)
    if (decoder === null) return blobs.open(range.blob, range.start + start, range.start + end)
    return decodedRange(await blobs.open(range.blob, range.start, range.end), decoder, start, end)
  }

  /** Assigns blob ids to content stored by earlier versions, in batches. @returns how many */
  async nameUnnamed(signal: AbortSignal): Promise<number> {
    let named = 0
    while (!signal.aborted) {
      const n = accountWithUnnamedContent(this.#deps.db.read)
      const mailboxId = n === undefined ? undefined : this.#deps.accounts.mailboxOf(n)
      if (n === undefined || mailboxId === undefined) break
      named += await this.#nameAll({ n, mailboxId }, signal)
    }
    return named
  }

  async #nameAll({ n, mailboxId }: Pick<Account, 'n' | 'mailboxId'>, signal?: AbortSignal): Promise<number> {
    const { db, names } = this.#deps
    let named = 0
    while (signal?.aborted !== true && hasUnnamedContent(db.read, n)) {
      named += await db.write((tx) => nameNextContents(tx, n, names.of(mailboxId), NAMES_PER_BATCH))
    }
    return named
  }
}

/** The names among `names` that are of content in messages of the account. */
export function namesInUse(reader: Reader, account: Pick<Account, 'n'>, names: readonly string[]): Set<string> {
  const used = new Set<string>()
  for (let at = 0; at < names.length; at += NAMES_PER_QUERY) {
    for (const name of namesInMessages(reader, account, names.slice(at, at + NAMES_PER_QUERY))) used.add(name)
  }
  return used
}

function uploadContent(upload: Upload | undefined): FoundContent | undefined {
  if (upload === undefined) return undefined
  const { sha256: hash, sizeBytes, contentType: type, filename } = upload
  return {
    hash,
    sizeBytes,
    type,
    filename,
    source: { kind: 'upload', uploadId: upload.id },
    range: uploadRange(upload),
  }
}

export function uploadedFile(upload: Upload): StoredFile {
  const { blobId: _, ...file } = upload
  return {
    ...file,
    messageId: null,
    partId: null,
    disposition: 'attachment',
    contentId: null,
    inline: false,
    range: uploadRange(upload),
  }
}

function uploadRange({ sha256, sizeBytes }: Upload): BlobRange {
  return { blob: sha256, start: 0, end: sizeBytes, encoding: null, charset: null }
}

/** A range of the decoded bytes. The bytes before it have to be decoded too, because encoded lines have any length. */
async function* decodedRange(
  pieces: AsyncIterable<Uint8Array>,
  decoder: TransferDecoder,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let at = 0
  const inRange = (bytes: Uint8Array): Uint8Array => {
    const part = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at))
    at += bytes.length
    return part
  }
  for await (const piece of pieces) {
    const part = inRange(decoder.push(piece))
    if (part.length > 0) yield part
    if (at >= end) return
  }
  const rest = inRange(decoder.end())
  if (rest.length > 0) yield rest
}
