// Content of messages: the messages themselves and their attachments, by blob name or id, and their blob names.

import type { Reader, Tx } from '../../db/db.ts'
import { findPart } from '../../mime/structure.ts'
import type { BlobNamer } from '../content/blob-names.ts'
import type { Account, Attachment } from '../rows/records.ts'
import { type StoredStructure, storedStructure } from './detail.ts'

/** A byte range in the blob store, and how to decode it. */
export interface BlobRange {
  /** SHA-256 of the blob. */
  blob: Uint8Array
  /** First byte, and the one after the last. */
  start: number
  end: number
  /** Content-Transfer-Encoding of the bytes; null: none. */
  encoding: string | null
  /** Charset of a text part; null: unknown. */
  charset: string | null
}

/** The content of a whole message or of an attachment. */
export interface MessageOrFileContent {
  messageId: string
  /** Null for the whole message. */
  partId: string | null
  /** SHA-256 of the content, decoded. */
  hash: Uint8Array
  /** Decoded. */
  sizeBytes: number
  type: string
  filename: string
  range: BlobRange
}

/** An attachment and the location of its bytes. */
export interface StoredAttachment extends Attachment {
  /** ms. */
  createdAt: number
  range: BlobRange
}

interface FileRow {
  message_id: string
  part_id: string
  filename: string
  content_type: string
  size_bytes: number
  sha256: Uint8Array
}

interface AttachmentRow extends FileRow {
  id: string
  disposition: Attachment['disposition']
  content_id: string | null
  inline: number
  created_at: number
}

/** The newest content with a blob name. */
export function contentByName(reader: Reader, account: Account, name: string): MessageOrFileContent | undefined {
  const file = reader.get<FileRow>(
    `SELECT m.id AS message_id, a.part_id, a.filename, a.content_type, a.size_bytes, a.sha256
     FROM attachments a JOIN messages m ON m.n = a.message
     WHERE a.account = ? AND a.blob_name = ? ORDER BY a.n DESC LIMIT 1`,
    [account.n, name],
  )
  return (file && fileContent(reader, account, file)) ?? messageByName(reader, account, name)
}

function fileContent(reader: Reader, account: Account, row: FileRow): MessageOrFileContent | undefined {
  const range = rangeOf(reader, account, row.message_id, row.part_id)
  return (
    range && {
      messageId: row.message_id,
      partId: row.part_id,
      hash: row.sha256,
      sizeBytes: row.size_bytes,
      type: row.content_type,
      filename: row.filename,
      range,
    }
  )
}

function messageByName(reader: Reader, account: Account, name: string): MessageOrFileContent | undefined {
  const message = reader.get<{ id: string; blob: Uint8Array; size_bytes: number }>(
    'SELECT id, blob, size_bytes FROM messages WHERE account = ? AND blob_name = ? ORDER BY n DESC LIMIT 1',
    [account.n, name],
  )
  if (message === undefined) return undefined
  const { id, blob, size_bytes: sizeBytes } = message
  const range = { blob, start: 0, end: sizeBytes, encoding: null, charset: null }
  return {
    ...{ messageId: id, partId: null, hash: blob, sizeBytes },
    ...{ type: 'message/rfc822', filename: `${id}.eml`, range },
  }
}

/** An attachment by its id; undefined if no message of this mailbox has it. */
export function attachmentById(reader: Reader, account: Account, id: string): StoredAttachment | undefined {
  const row = reader.get<AttachmentRow>(
    `SELECT m.id AS message_id, m.created_at, a.id, a.part_id, a.filename, a.content_type, a.size_bytes, a.sha256, a.disposition,
       a.content_id, a.inline
     FROM attachments a JOIN messages m ON m.n = a.message WHERE a.id = ? AND a.account = ?`,
    [id, account.n],
  )
  const range = row && rangeOf(reader, account, row.message_id, row.part_id)
  return (
    range && {
      id: row.id,
      messageId: row.message_id,
      partId: row.part_id,
      filename: row.filename,
      contentType: row.content_type,
      sizeBytes: row.size_bytes,
      sha256: row.sha256,
      disposition: row.disposition,
      contentId: row.content_id,
      inline: row.inline === 1,
      createdAt: row.created_at,
      range,
    }
  )
}

function rangeOf(reader: Reader, account: Account, messageId: string, partId: string): BlobRange | undefined {
  const stored = storedStructure(reader, account, messageId)
  return stored && rangeOfPart(stored, partId)
}

function rangeOfPart({ root, blob }: StoredStructure, partId: string): BlobRange | undefined {
  const part = root && findPart(root, partId)
  return part
    ? { blob, start: part.bodyStart, end: part.bodyEnd, encoding: part.encoding, charset: part.charset }
    : undefined
}

/** Id of the newest message with exactly these bytes. */
export function messageWithContent(reader: Reader, account: Pick<Account, 'n'>, hash: Uint8Array): string | undefined {
  // Few mailboxes have the same message, but a mailbox has many messages: the plus makes SQLite use the index on `blob`.
  const row = reader.get<{ id: string }>(
    'SELECT id FROM messages WHERE blob = ? AND +account = ? ORDER BY n DESC LIMIT 1',
    [hash, account.n],
  )
  return row?.id
}

/** A message that refers to a content. */
export interface ContentHolder {
  n: number
  messageId: string
  /** Number of its thread. */
  thread: number
}

/** The newest messages with content of that name, at most `limit`. */
export function holdersOf(reader: Reader, account: Account, name: string, limit: number): ContentHolder[] {
  return reader.all<{ n: number; messageId: string; thread: number }>(
    `SELECT m.n, m.id AS messageId, m.thread FROM messages m WHERE m.account = ? AND m.blob_name = ?
     UNION SELECT m.n, m.id AS messageId, m.thread FROM attachments a JOIN messages m ON m.n = a.message
     WHERE a.account = ? AND a.blob_name = ? ORDER BY 1 DESC LIMIT ?`,
    [account.n, name, account.n, name, limit],
  )
}

/** The names among `names` (at most a few hundred) that are of content in messages of the account. */
export function namesInMessages(reader: Reader, account: Pick<Account, 'n'>, names: readonly string[]): string[] {
  if (names.length === 0) return []
  const rows = reader.all<{ name: string }>(
    `WITH asked (name) AS (VALUES ${names.map(() => '(?)').join(', ')})
     SELECT name FROM asked WHERE EXISTS (SELECT 1 FROM attachments a WHERE a.account = ? AND a.blob_name = asked.name)
       OR EXISTS (SELECT 1 FROM messages m WHERE m.account = ? AND m.blob_name = asked.name)`,
    [...names, account.n, account.n],
  )
  return rows.map(({ name }) => name)
}

/** An account with content of earlier versions that has no name yet. */
export function accountWithUnnamedContent(reader: Reader): number | undefined {
  const row = reader.get<{ account: number }>(
    `SELECT account FROM messages WHERE blob_name IS NULL
     UNION ALL SELECT account FROM attachments WHERE blob_name IS NULL LIMIT 1`,
  )
  return row?.account
}

/** Whether content of this account has no name yet. */
export function hasUnnamedContent(reader: Reader, account: number): boolean {
  const row = reader.get(
    `SELECT 1 FROM messages WHERE account = ? AND blob_name IS NULL
     UNION ALL SELECT 1 FROM attachments WHERE account = ? AND blob_name IS NULL LIMIT 1`,
    [account, account],
  )
  return row !== undefined
}

/** Names the next contents of an account without a name. @returns how many; 0 if all have one */
export function nameNextContents(tx: Tx, account: number, nameOf: BlobNamer, limit: number): number {
  const messages = tx.all<{ n: number; hash: Uint8Array }>(
    'SELECT n, blob AS hash FROM messages WHERE account = ? AND blob_name IS NULL LIMIT ?',
    [account, limit],
  )
  for (const { n, hash } of messages) tx.run('UPDATE messages SET blob_name = ? WHERE n = ?', [nameOf(hash), n])
  const files = tx.all<{ n: number; hash: Uint8Array }>(
    'SELECT n, sha256 AS hash FROM attachments WHERE account = ? AND blob_name IS NULL LIMIT ?',
    [account, limit - messages.length],
  )
  for (const { n, hash } of files) tx.run('UPDATE attachments SET blob_name = ? WHERE n = ?', [nameOf(hash), n])
  return messages.length + files.length
}
