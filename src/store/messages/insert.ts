// Inserts messages: their rows, keywords, attachments and search texts.

import { newId } from '../../base/ids.ts'
import type { Row, Tx } from '../../db/db.ts'
import { insertMany } from '../../db/many-rows.ts'
import type { AttachmentPart, ParsedMessage } from '../../mime/message.ts'
import type { BlobNamer } from '../content/blob-names.ts'
import { headerRow } from '../entries/headers.ts'
import { FLAG_KEYWORDS, labelsOf } from '../entries/keywords.ts'
import { countAttachments } from '../rows/accounts.ts'
import type { Flags, MessageAuthentication, MessageSpam } from '../rows/records.ts'
import { recordCorrespondents } from '../search/correspondents.ts'
import { type CorrespondentsByField, indexMessage } from '../search/text.ts'

/** A message to insert into an account. */
export interface NewMessage {
  /** Public id, `msg_…`. */
  id: string
  /** From `nextNumbers`, in the same unit of work. */
  n: number
  account: number
  thread: number
  /** SHA-256 of the stored bytes. */
  blob: Uint8Array
  /** Computes blob ids of this mailbox. */
  nameOf: BlobNamer
  sizeBytes: number
  parsed: ParsedMessage
  envelope: { mailFrom: string; rcptTo: string }
  authentication: MessageAuthentication
  spam: MessageSpam
  /** Labels and system keywords; the keywords of the four flags set the flag. */
  keywords: string[]
  flags: Flags
  /** True if it is in at least one folder other than Junk and Trash. */
  listed: boolean
  receivedAt: number
  createdAt: number
}

/**
 * Inserts the rows that depend only on the messages, not on threads and folders.
 * @returns public ids of the attachments of each message, in the order of the messages and of their attachments
 */
export function insertMessages(tx: Tx, messages: readonly NewMessage[]): string[][] {
  const correspondents = recordCorrespondents(
    tx,
    messages.map(({ account, parsed: { from, to, cc } }) => ({ account, from, to, cc })),
  )
  const keywords = messages.map((message) => labelsOf(message.keywords))
  insertMany(
    tx,
    'messages',
    messages.map((message, index) => ({ n: message.n, ...rowOf(message, keywords[index]!, correspondents[index]!) })),
  )
  const labels = messages.flatMap(({ account, n }, index) =>
    keywords[index]!.map((keyword) => ({ account, keyword, message: n })),
  )
  insertMany(tx, 'message_keywords', labels)
  insertMany(
    tx,
    'message_headers',
    messages.map(({ n, parsed }) => headerRow(n, parsed)),
  )
  const attachmentIds = insertAttachments(tx, messages)
  for (const [index, { n, account, parsed }] of messages.entries()) {
    // FTS5 flushes its pending terms at every savepoint and whenever a rowid is lower than the previous one. Indexing all messages of a
    // transaction at its end, in ascending order, flushes only once.
    tx.atEnd((end) => indexMessage(end, { n, account, message: parsed, correspondents: correspondents[index]! }), n)
  }
  return attachmentIds
}

function insertAttachments(tx: Tx, messages: readonly NewMessage[]): string[][] {
  const ids = messages.map(({ parsed }) => parsed.attachments.map(() => newId('attachment')))
  const rows = messages.flatMap(({ account, n, nameOf, parsed }, at) =>
    parsed.attachments.map((part, index) => ({
      id: ids[at]![index],
      ...attachmentRow(account, n, part),
      blob_name: nameOf(part.sha256),
    })),
  )
  insertMany(tx, 'attachments', rows)
  const bytes = new Map<number, number>()
  for (const { account, size_bytes: size } of rows) bytes.set(account, (bytes.get(account) ?? 0) + size)
  for (const [account, added] of bytes) countAttachments(tx, account, added)
  return ids
}

function rowOf(message: NewMessage, keywords: string[], correspondents: CorrespondentsByField): Row {
  const { parsed, flags } = message
  const { sender, from, to, cc, bcc, replyTo } = parsed
  const has = (flag: keyof Flags) => flags[flag] || message.keywords.includes(FLAG_KEYWORDS[flag])
  return {
    id: message.id,
    account: message.account,
    thread: message.thread,
    received_at: message.receivedAt,
    listed: message.listed,
    seen: has('seen'),
    flagged: has('flagged'),
    draft: has('draft'),
    answered: has('answered'),
    has_attachments: parsed.hasAttachments,
    size_bytes: message.sizeBytes,
    sent_at: parsed.sentAt,
    people: JSON.stringify(correspondents),
    keywords: JSON.stringify(keywords),
    subject: parsed.subject,
    preview: parsed.preview,
    from_email: from[0]?.email ?? '',
    from_name: from[0]?.name ?? '',
    addresses: JSON.stringify({ sender, from, to, cc, bcc, replyTo }),
    blob: message.blob,
    blob_name: message.nameOf(message.blob),
    internet_message_id: parsed.messageId,
    in_reply_to: JSON.stringify(parsed.inReplyTo),
    refs: JSON.stringify(parsed.references),
    parsed: parsed.parsed,
    envelope: JSON.stringify(message.envelope),
    authentication: JSON.stringify(message.authentication),
    spam: JSON.stringify(message.spam),
    structure: JSON.stringify({ root: parsed.structure, textPart: parsed.textPart, htmlPart: parsed.htmlPart }),
    created_at: message.createdAt,
  }
}

function attachmentRow(account: number, message: number, part: AttachmentPart) {
  return {
    account,
    message,
    part_id: part.partId,
    filename: part.filename,
    content_type: part.contentType,
    size_bytes: part.sizeBytes,
    sha256: part.sha256,
    disposition: part.disposition,
    content_id: part.contentId,
    inline: part.inline,
  }
}
