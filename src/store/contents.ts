// Everything a mailbox holds as content (mails, the files in them, uploads), found by public name or id, read whole or in stretches.

import type { Db, Reader } from '../db/db.ts'
import { decodeStream, type TransferDecoder } from '../mime/transfer-stream.ts'
import type { Accounts } from './accounts.ts'
import type { BlobNames } from './blob-names.ts'
import type { Blobs } from './blobs.ts'
import { folderIdsOf } from './folders.ts'
import {
  accountWithUnnamed,
  type BlobRange,
  contentNamed,
  hasUnnamed,
  heldAmong,
  holdersOf,
  keptFile,
  nameNext,
  type StoredAttachment,
} from './messages/contents.ts'
import type { Account, Attachment } from './records.ts'
import { threadIdsOf } from './threads/numbers.ts'
import type { Upload, Uploads } from './uploads.ts'

export type { BlobRange } from './messages/contents.ts'

// A name costs some 10 µs: a piece holds others up no longer than a delivery does.
const NAMED_AT_ONCE = 200
/** Messages that are told to hold a content; a picture in every mail of a mailbox is in very many. */
export const HOLDERS_MAX = 100
// Names asked for in one statement.
const ASKED_AT_ONCE = 400

/** Where a content was found. */
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
  place: BlobRange
}

/** A file with an id of its own: one in a mail, or an upload, which belongs to no mail. */
export interface StoredFile extends Omit<Attachment, 'messageId' | 'partId'> {
  messageId: string | null
  partId: string | null
  /** ms. */
  createdAt: number
  /** When it goes by itself (ms); null: not before its message does. */
  expiresAt: number | null
  place: BlobRange
}

/** What names a content, as public ids. */
export interface ContentReferences {
  found: boolean
  messages: string[]
  threads: string[]
  folders: string[]
}

/** Bytes as they are stored. */
export interface EncodedBytes {
  bytes: Uint8Array
  /** Content-Transfer-Encoding they are in; null: none. */
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

  /** The newest content of that public name; undefined when the mailbox holds none. */
  async find(account: Account, blobId: string): Promise<FoundContent | undefined> {
    await this.#nameAll(account)
    const { db, uploads } = this.#deps
    const kept = await contentNamed(db.read, account, blobId)
    if (kept === undefined) return uploaded(await uploads.byBlobId(account, blobId))
    const { messageId, partId, ...content } = kept
    const source: ContentSource =
      partId === null ? { kind: 'message', messageId } : { kind: 'attachment', messageId, partId }
    return { ...content, source }
  }

  /** A file by its id; undefined when the mailbox has none of that id. */
  async file(account: Account, id: string): Promise<StoredFile | undefined> {
    const kept: StoredAttachment | undefined = await keptFile(this.#deps.db.read, account, id)
    if (kept !== undefined) return { ...kept, expiresAt: null }
    const upload = await this.#deps.uploads.get(account, id)
    return upload && uploadedFile(upload)
  }

  /** Whether the mailbox holds content of that public name, and what names it: of messages the newest HOLDERS_MAX. */
  async lookUp(account: Account, blobId: string): Promise<ContentReferences> {
    await this.#nameAll(account)
    const { db, uploads } = this.#deps
    const holders = await holdersOf(db.read, account, blobId, HOLDERS_MAX)
    if (holders.length === 0) {
      const upload = await uploads.byBlobId(account, blobId)
      return { found: upload !== undefined, messages: [], threads: [], folders: [] }
    }
    const threads = await threadIdsOf(db.read, [...new Set(holders.map(({ thread }) => thread))])
    const folders = await folderIdsOf(
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

  /** The bytes as they are stored, in one piece: for contents known to be small enough. */
  async stored({ blob, start, end, encoding }: BlobRange): Promise<EncodedBytes> {
    return { bytes: await this.#deps.blobs.bytes(blob, start, end), encoding }
  }

  /** Decoded bytes from `start` to `end` (exclusive), some stretch in memory at a time. */
  read(place: BlobRange, start: number, end: number): AsyncIterable<Uint8Array> {
    const { blobs } = this.#deps
    const decoder = decodeStream(place.encoding)
    if (decoder === null) return blobs.read(place.blob, place.start + start, place.start + end)
    return decoded(blobs.read(place.blob, place.start, place.end), decoder, start, end)
  }

  /** Names content of earlier versions, in pieces. @returns how much was named */
  async nameOld(signal: AbortSignal): Promise<number> {
    let named = 0
    while (!signal.aborted) {
      const n = await accountWithUnnamed(this.#deps.db.read)
      const mailboxId = n === undefined ? undefined : await this.#deps.accounts.mailboxOf(n)
      if (n === undefined || mailboxId === undefined) break
      named += await this.#nameAll({ n, mailboxId }, signal)
    }
    return named
  }

  async #nameAll({ n, mailboxId }: Pick<Account, 'n' | 'mailboxId'>, signal?: AbortSignal): Promise<number> {
    const { db, names } = this.#deps
    let named = 0
    while (signal?.aborted !== true && (await hasUnnamed(db.read, n))) {
      named += await db.write((tx) => nameNext(tx, n, names.of(mailboxId), NAMED_AT_ONCE))
    }
    return named
  }
}

/** Which of these names messages of the account hold content of. */
export async function heldNames(
  reader: Reader,
  account: Pick<Account, 'n'>,
  names: readonly string[],
): Promise<Set<string>> {
  const held = new Set<string>()
  for (let at = 0; at < names.length; at += ASKED_AT_ONCE) {
    for (const name of await heldAmong(reader, account, names.slice(at, at + ASKED_AT_ONCE))) held.add(name)
  }
  return held
}

function uploaded(upload: Upload | undefined): FoundContent | undefined {
  if (upload === undefined) return undefined
  const { sha256: hash, sizeBytes, contentType: type, filename } = upload
  return { hash, sizeBytes, type, filename, source: { kind: 'upload', uploadId: upload.id }, place: placeOf(upload) }
}

/** An upload as a file like any other. */
export function uploadedFile(upload: Upload): StoredFile {
  const { blobId: _, ...file } = upload
  return {
    ...file,
    messageId: null,
    partId: null,
    disposition: 'attachment',
    contentId: null,
    inline: false,
    place: placeOf(upload),
  }
}

function placeOf({ sha256, sizeBytes }: Upload): BlobRange {
  return { blob: sha256, start: 0, end: sizeBytes, encoding: null, charset: null }
}

/** The stretch of the decoded bytes; what comes before is decoded and passed over, because encoded lines may have any length. */
async function* decoded(
  pieces: AsyncIterable<Uint8Array>,
  decoder: TransferDecoder,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let at = 0
  const cut = (bytes: Uint8Array): Uint8Array => {
    const part = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at))
    at += bytes.length
    return part
  }
  for await (const piece of pieces) {
    const part = cut(decoder.push(piece))
    if (part.length > 0) yield part
    if (at >= end) return
  }
  const rest = cut(decoder.end())
  if (rest.length > 0) yield rest
}
