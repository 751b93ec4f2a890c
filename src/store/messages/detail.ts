// A single message with its attachments, its MIME structure and its stored bodies.

import type { Reader } from '../../db/db.ts'
import type { Part } from '../../mime/message.ts'
import { findPart } from '../../mime/structure.ts'
import { BODY_BYTES_MAX } from '../../mime/view.ts'
import type { BodyBytes } from '../../workers/clean-task.ts'
import type { Blobs } from '../content/blobs.ts'
import { threadIdsOf } from '../entries/thread-rows.ts'
import { folderIdsOf } from '../rows/folders.ts'
import type { Account, Attachment, MessageDetail } from '../rows/records.ts'
import { presentSummary, type StoredAddresses, type SummaryRow, summaryColumns } from './rows.ts'

/** The blob of a message and its MIME structure. */
export interface StoredStructure {
  blob: Uint8Array
  sizeBytes: number
  root: Part | null
  textPart: string | null
  htmlPart: string | null
}

interface DetailRow extends SummaryRow {
  thread: number
  blob: Uint8Array
  internet_message_id: string | null
  in_reply_to: string
  refs: string
  parsed: number
  envelope: string
  authentication: string
  spam: string
}

interface AttachmentRow {
  id: string
  part_id: string
  filename: string
  content_type: string
  size_bytes: number
  sha256: Uint8Array
  disposition: Attachment['disposition']
  content_id: string | null
  inline: number
}

export function readDetail(reader: Reader, account: Account, id: string): MessageDetail | undefined {
  const row = reader.get<DetailRow>(
    `SELECT ${summaryColumns('m')}, m.thread, m.blob, m.internet_message_id, m.in_reply_to, m.refs, m.parsed, m.envelope,
       m.authentication, m.spam
     FROM messages m WHERE m.id = ? AND m.account = ?`,
    [id, account.n],
  )
  if (!row) return undefined
  const threads = threadIdsOf(reader, [row.thread])
  const folders = folderIdsOf(reader, [row.n])
  const { replyTo, sender } = JSON.parse(row.addresses) as StoredAddresses
  return {
    ...presentSummary(row, threads.get(row.thread) ?? '', folders.get(row.n) ?? []),
    blobHash: row.blob,
    internetMessageId: row.internet_message_id,
    inReplyTo: JSON.parse(row.in_reply_to) as string[],
    references: JSON.parse(row.refs) as string[],
    replyTo,
    sender,
    parsed: row.parsed === 1,
    attachments: attachmentsOf(reader, row.n, id),
    authentication: JSON.parse(row.authentication) as MessageDetail['authentication'],
    spam: JSON.parse(row.spam) as MessageDetail['spam'],
    envelope: JSON.parse(row.envelope) as MessageDetail['envelope'],
  }
}

export function storedStructure(reader: Reader, account: Account, id: string): StoredStructure | undefined {
  const row = reader.get<{ blob: Uint8Array; size_bytes: number; structure: string }>(
    'SELECT blob, size_bytes, structure FROM messages WHERE id = ? AND account = ?',
    [id, account.n],
  )
  if (!row) return undefined
  const structure = JSON.parse(row.structure) as Pick<StoredStructure, 'root' | 'textPart' | 'htmlPart'>
  return { blob: row.blob, sizeBytes: row.size_bytes, ...structure }
}

function attachmentsOf(reader: Reader, message: number, messageId: string): Attachment[] {
  const rows = reader.all<AttachmentRow>(
    `SELECT id, part_id, filename, content_type, size_bytes, sha256, disposition, content_id, inline
     FROM attachments WHERE message = ? ORDER BY n`,
    [message],
  )
  return rows.map((row) => ({
    id: row.id,
    messageId,
    partId: row.part_id,
    filename: row.filename,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    sha256: row.sha256,
    disposition: row.disposition,
    contentId: row.content_id,
    inline: row.inline === 1,
  }))
}

export interface StoredBodies {
  text: BodyBytes | null
  html: BodyBytes | null
  /** At least one body is longer than what was read. */
  incomplete: boolean
}

/** @param most bytes of each that are read */
export async function storedBodies(
  blobs: Blobs,
  structure: StoredStructure,
  most = BODY_BYTES_MAX,
): Promise<StoredBodies> {
  const { blob, root } = structure
  const parts = [structure.textPart, structure.htmlPart].map(
    (id) => (root && id !== null && findPart(root, id)) || null,
  )
  const [text, html] = await Promise.all(parts.map((part) => part && readBody(blobs, blob, part, most)))
  const incomplete = parts.some((part) => part !== null && part.bodyEnd - part.bodyStart > most)
  return { text: text ?? null, html: html ?? null, incomplete }
}

async function readBody(blobs: Blobs, blob: Uint8Array, part: Part, most: number): Promise<BodyBytes> {
  const end = Math.min(part.bodyEnd, part.bodyStart + most)
  const { encoding, charset } = part
  return { bytes: await blobs.bytes(blob, part.bodyStart, end), encoding, charset }
}
