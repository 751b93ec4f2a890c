// The content messages hold: whole mails and the files in them, found by their public name or their id.

import type { Reader, Tx } from '../../db/db.ts'
import { findPart } from '../../mime/structure.ts'
import type { BlobNamer } from '../blob-names.ts'
import type { Account, Attachment } from '../records.ts'
import { type KeptStructure, keptStructure } from './detail.ts'

/** Where bytes lie in the content store, and what has to be undone to read them. */
export interface BlobRange {
  /** SHA-256 of the stored content they are in. */
  blob: Uint8Array
  /** First byte, and the one behind the last. */
  start: number
  end: number
  /** Content-Transfer-Encoding they are in; null: none. */
  encoding: string | null
  /** Character set of a text, as its part says; null: unknown. */
  charset: string | null
}

/** A whole mail, or a file in one. */
export interface MessageOrFileContent {
  messageId: string
  /** Null for the whole mail. */
  partId: string | null
  /** SHA-256 of the content, decoded. */
  hash: Uint8Array
  /** Decoded. */
  sizeBytes: number
  type: string
  filename: string
  place: BlobRange
}

/** A file in a mail, and where its bytes are. */
export interface StoredAttachment extends Attachment {
  /** ms. */
  createdAt: number
  place: BlobRange
}

interface FileRow {
  message_id: string
  part_id: string
  filename: string
  content_type: string
  size_bytes: number
  sha256: Uint8Array
}

interface WholeFileRow extends FileRow {
  id: string
  disposition: Attachment['disposition']
  content_id: string | null
  inline: number
  created_at: number
}

/** The newest content of that name; a file is found where it is kept, not where it is shown. */
export async function contentNamed(
  reader: Reader,
  account: Account,
  name: string,
): Promise<MessageOrFileContent | undefined> {
  const file = await reader.get<FileRow>(
    `SELECT m.id AS message_id, a.part_id, a.filename, a.content_type, a.size_bytes, a.sha256
     FROM attachments a JOIN messages m ON m.n = a.message
     WHERE a.account = ? AND a.blob_name = ? ORDER BY a.n DESC LIMIT 1`,
    [account.n, name],
  )
  return (file && (await fileContent(reader, account, file))) ?? mailNamed(reader, account, name)
}

async function fileContent(reader: Reader, account: Account, row: FileRow): Promise<MessageOrFileContent | undefined> {
  const place = await placeOf(reader, account, row.message_id, row.part_id)
  return (
    place && {
      messageId: row.message_id,
      partId: row.part_id,
      hash: row.sha256,
      sizeBytes: row.size_bytes,
      type: row.content_type,
      filename: row.filename,
      place,
    }
  )
}

async function mailNamed(reader: Reader, account: Account, name: string): Promise<MessageOrFileContent | undefined> {
  const mail = await reader.get<{ id: string; blob: Uint8Array; size_bytes: number }>(
    'SELECT id, blob, size_bytes FROM messages WHERE account = ? AND blob_name = ? ORDER BY n DESC LIMIT 1',
    [account.n, name],
  )
  if (mail === undefined) return undefined
  const { id, blob, size_bytes: sizeBytes } = mail
  const place = { blob, start: 0, end: sizeBytes, encoding: null, charset: null }
  return {
    ...{ messageId: id, partId: null, hash: blob, sizeBytes },
    ...{ type: 'message/rfc822', filename: `${id}.eml`, place },
  }
}

/** A file by its own id; undefined when this mailbox has no such file in a mail. */
export async function keptFile(reader: Reader, account: Account, id: string): Promise<StoredAttachment | undefined> {
  const row = await reader.get<WholeFileRow>(
    `SELECT m.id AS message_id, m.created_at, a.id, a.part_id, a.filename, a.content_type, a.size_bytes, a.sha256, a.disposition,
       a.content_id, a.inline
     FROM attachments a JOIN messages m ON m.n = a.message WHERE a.id = ? AND a.account = ?`,
    [id, account.n],
  )
  const place = row && (await placeOf(reader, account, row.message_id, row.part_id))
  return (
    place && {
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
      place,
    }
  )
}

async function placeOf(
  reader: Reader,
  account: Account,
  messageId: string,
  partId: string,
): Promise<BlobRange | undefined> {
  const kept = await keptStructure(reader, account, messageId)
  return kept && partPlace(kept, partId)
}

function partPlace({ root, blob }: KeptStructure, partId: string): BlobRange | undefined {
  const part = root && findPart(root, partId)
  return part
    ? { blob, start: part.bodyStart, end: part.bodyEnd, encoding: part.encoding, charset: part.charset }
    : undefined
}

/** Id of the newest message whose bytes are exactly these. */
export async function messageHolding(
  reader: Reader,
  account: Pick<Account, 'n'>,
  hash: Uint8Array,
): Promise<string | undefined> {
  // Few mailboxes have the same mail, and one has many mails: the plus keeps SQLite at the index of contents.
  const row = await reader.get<{ id: string }>(
    'SELECT id FROM messages WHERE blob = ? AND +account = ? ORDER BY n DESC LIMIT 1',
    [hash, account.n],
  )
  return row?.id
}

/** A message that holds some content. */
export interface Holder {
  n: number
  messageId: string
  /** Number of its thread. */
  thread: number
}

/** The newest messages that hold content of that name, at most `limit`. */
export async function holdersOf(reader: Reader, account: Account, name: string, limit: number): Promise<Holder[]> {
  return reader.all<{ n: number; messageId: string; thread: number }>(
    `SELECT m.n, m.id AS messageId, m.thread FROM messages m WHERE m.account = ? AND m.blob_name = ?
     UNION SELECT m.n, m.id AS messageId, m.thread FROM attachments a JOIN messages m ON m.n = a.message
     WHERE a.account = ? AND a.blob_name = ? ORDER BY 1 DESC LIMIT ?`,
    [account.n, name, account.n, name, limit],
  )
}

/** Which of these names (at most a few hundred) messages of the account hold content of. */
export async function heldAmong(
  reader: Reader,
  account: Pick<Account, 'n'>,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return []
  const rows = await reader.all<{ name: string }>(
    `WITH asked (name) AS (VALUES ${names.map(() => '(?)').join(', ')})
     SELECT name FROM asked WHERE EXISTS (SELECT 1 FROM attachments a WHERE a.account = ? AND a.blob_name = asked.name)
       OR EXISTS (SELECT 1 FROM messages m WHERE m.account = ? AND m.blob_name = asked.name)`,
    [...names, account.n, account.n],
  )
  return rows.map(({ name }) => name)
}

/** An account with content of earlier versions, which has no name yet. */
export async function accountWithUnnamed(reader: Reader): Promise<number | undefined> {
  const row = await reader.get<{ account: number }>(
    `SELECT account FROM messages WHERE blob_name IS NULL
     UNION ALL SELECT account FROM attachments WHERE blob_name IS NULL LIMIT 1`,
  )
  return row?.account
}

/** True while some content of this account has no name yet. */
export async function hasUnnamed(reader: Reader, account: number): Promise<boolean> {
  const row = await reader.get(
    `SELECT 1 FROM messages WHERE account = ? AND blob_name IS NULL
     UNION ALL SELECT 1 FROM attachments WHERE account = ? AND blob_name IS NULL LIMIT 1`,
    [account, account],
  )
  return row !== undefined
}

/** Names the next few contents of an account that have no name yet. @returns how many these were, 0 when all have one */
export async function nameNext(tx: Tx, account: number, nameOf: BlobNamer, limit: number): Promise<number> {
  const mails = await tx.all<{ n: number; hash: Uint8Array }>(
    'SELECT n, blob AS hash FROM messages WHERE account = ? AND blob_name IS NULL LIMIT ?',
    [account, limit],
  )
  for (const { n, hash } of mails) await tx.run('UPDATE messages SET blob_name = ? WHERE n = ?', [nameOf(hash), n])
  const files = await tx.all<{ n: number; hash: Uint8Array }>(
    'SELECT n, sha256 AS hash FROM attachments WHERE account = ? AND blob_name IS NULL LIMIT ?',
    [account, limit - mails.length],
  )
  for (const { n, hash } of files) await tx.run('UPDATE attachments SET blob_name = ? WHERE n = ?', [nameOf(hash), n])
  return mails.length + files.length
}
