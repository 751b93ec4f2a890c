// Writes one message: its row, keywords, attachments and search text.

import { newId } from '../../base/ids.ts'
import type { Row, Tx } from '../../db/db.ts'
import type { AttachmentPart, ParsedMessage } from '../../mime/message.ts'
import { countAttachments } from '../accounts.ts'
import type { BlobNamer } from '../blob-names.ts'
import type { Flags, MessageAuthentication } from '../records.ts'
import { indexMessage, type People } from '../search/text.ts'
import { notePeople } from './correspondents.ts'
import { FLAG_KEYWORDS, labelsOf } from './keywords.ts'
import { nextNumber } from './numbers.ts'

/** A message that is to rest in one account. */
export interface NewMessage {
  /** Public id, `msg_…`. */
  id: string
  account: number
  thread: number
  /** SHA-256 of the stored bytes. */
  blob: Uint8Array
  /** Gives the public names of content in this mailbox. */
  nameOf: BlobNamer
  sizeBytes: number
  mail: ParsedMessage
  envelope: { mailFrom: string; rcptTo: string }
  authentication: MessageAuthentication
  spam: { score: number; isSpam: boolean; reasons: string[] }
  /** Labels and system keywords; those of the four flags count as the flag. */
  keywords: string[]
  flags: Flags
  /** True when it lies in at least one folder that is neither Junk nor Trash. */
  listed: boolean
  receivedAt: number
  createdAt: number
}

/** What a message was given when it was written. */
export interface KeptMessage {
  n: number
  /** Public ids, in the order of the mail's attachments. */
  attachmentIds: string[]
}

/** Writes the rows of a message that hang on nothing but the message. */
export async function insertMessage(tx: Tx, message: NewMessage): Promise<KeptMessage> {
  const { account, mail, nameOf } = message
  const keywords = labelsOf(message.keywords)
  const people = await notePeople(tx, account, mail)
  const n = await nextNumber(tx, account, message.receivedAt)
  await tx.insert('messages', { n, ...rowOf(message, keywords, people) })
  for (const keyword of keywords) await tx.insert('message_keywords', { account, keyword, message: n })
  const attachmentIds = mail.attachments.map(() => newId('attachment'))
  for (const [index, part] of mail.attachments.entries()) {
    await tx.insert('attachments', {
      id: attachmentIds[index],
      ...attachmentRow(account, n, part),
      blob_name: nameOf(part.sha256),
    })
  }
  await countAttachments(
    tx,
    account,
    mail.attachments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  )
  // FTS5 writes what it has gathered at every savepoint, and where a row is below the one before: told at the end and in order, it
  // does so once for all messages of a transaction.
  tx.atEnd((end) => indexMessage(end, { n, account, mail, people }), n)
  return { n, attachmentIds }
}

function rowOf(message: NewMessage, keywords: string[], people: People): Row {
  const { mail, flags } = message
  const { sender, from, to, cc, bcc, replyTo } = mail
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
    has_attachments: mail.hasAttachments,
    size_bytes: message.sizeBytes,
    sent_at: mail.sentAt,
    people: JSON.stringify(people),
    keywords: JSON.stringify(keywords),
    subject: mail.subject,
    preview: mail.preview,
    from_email: from[0]?.email ?? '',
    from_name: from[0]?.name ?? '',
    addresses: JSON.stringify({ sender, from, to, cc, bcc, replyTo }),
    blob: message.blob,
    blob_name: message.nameOf(message.blob),
    internet_message_id: mail.messageId,
    in_reply_to: JSON.stringify(mail.inReplyTo),
    refs: JSON.stringify(mail.references),
    parsed: mail.parsed,
    envelope: JSON.stringify(message.envelope),
    authentication: JSON.stringify(message.authentication),
    spam: JSON.stringify(message.spam),
    structure: JSON.stringify({ root: mail.structure, textPart: mail.textPart, htmlPart: mail.htmlPart }),
    created_at: message.createdAt,
  }
}

function attachmentRow(account: number, message: number, part: AttachmentPart): Row {
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
