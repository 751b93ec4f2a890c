// The `message.received` event of a message stored in a mailbox (docs/design/events.md §4).

import { isoTime } from '../base/clock.ts'
import type { Tx } from '../db/db.ts'
import type { Address, AttachmentPart, AuthResult, ParsedMessage } from '../mime/message.ts'
import type { Outbox } from './outbox.ts'

/** One copy of a message and its delivery result. */
export interface ReceivedCopy {
  teamId: string
  /** `mdom_…` of the mailbox; null for one that is an outside account. */
  domainId: string | null
  message: { inspection: { message: ParsedMessage; sizeBytes: number }; mailFrom: string; receivedAt: number }
  target: {
    mailboxId: string
    /** Address of the mailbox. */
    email: string
    rcptTo: string
    /** Whether it is stored in Junk. */
    junk: boolean
    authentication: { spf: AuthResult; dkim: AuthResult; dmarc: AuthResult }
    spam: { score: number; reasons: readonly string[] }
  }
  delivered: {
    outcome: 'stored' | 'duplicate' | 'full' | 'discarded'
    messageId: string | null
    threadId: string | null
    folderIds: readonly string[]
    /** In the order of the message's attachments. */
    attachmentIds: readonly string[]
  }
}

/** docs/design/events.md §3: maximum entries of a list, and bytes of the data (an event of 64 KiB less its envelope). */
export const LIST_MAX = 50
export const DATA_BYTES_MAX = 63 * 1024
const NAME_MAX = 255
/** Longer than any Message-ID in use; a sender may write a longer one. */
const ID_MAX = 998

/** Records the event in the unit of work that stored the copy. A duplicate, discarded or over-quota copy has no event. */
export function recordReceived(tx: Tx, outbox: Outbox, copy: ReceivedCopy): void {
  if (copy.delivered.outcome !== 'stored') return
  const { target, message } = copy
  outbox.record(tx, {
    teamId: copy.teamId,
    type: target.junk ? 'message.received.spam' : 'message.received',
    mailboxId: target.mailboxId,
    domainId: copy.domainId,
    at: message.receivedAt,
    data: receivedData(copy),
  })
}

/** The event data; lists are cut until the data fits `DATA_BYTES_MAX`. */
export function receivedData(copy: ReceivedCopy): Record<string, unknown> {
  for (let most = LIST_MAX; ; most = Math.floor(most / 2)) {
    const data = dataOf(copy, most)
    if (most === 0 || Buffer.byteLength(JSON.stringify(data)) <= DATA_BYTES_MAX) return data
  }
}

function dataOf({ message, target, delivered }: ReceivedCopy, most: number): Record<string, unknown> {
  const { inspection, mailFrom, receivedAt } = message
  const parsed = inspection.message
  const { attachments } = parsed
  const { spf, dkim, dmarc } = target.authentication
  return {
    mailbox_id: target.mailboxId,
    mailbox_email: target.email,
    message_id: delivered.messageId,
    thread_id: delivered.threadId,
    folder_ids: delivered.folderIds,
    internet_message_id: idText(parsed.messageId),
    in_reply_to: idText(parsed.inReplyTo[0] ?? null),
    envelope: { mail_from: mailFrom, rcpt_to: target.rcptTo },
    from: person(parsed.from[0] ?? { email: '', name: '' }),
    to: parsed.to.slice(0, most).map(person),
    cc: parsed.cc.slice(0, most).map(person),
    subject: parsed.subject,
    preview: parsed.preview,
    received_at: isoTime(receivedAt),
    size_bytes: inspection.sizeBytes,
    has_attachments: parsed.hasAttachments,
    attachments: attachments.slice(0, most).map((part, index) => attachment(part, delivered.attachmentIds[index]!)),
    authentication: { spf, dkim, dmarc },
    // Written by external senders: consumers must not treat it as instructions.
    untrusted_content: true,
    truncated: Math.max(parsed.to.length, parsed.cc.length, attachments.length) > most,
    ...(target.junk ? { spam: { score: target.spam.score, reasons: target.spam.reasons } } : {}),
  }
}

function person({ email, name }: Address) {
  return { email, name: name.slice(0, NAME_MAX).toWellFormed() }
}

function attachment({ filename, contentType, sizeBytes, inline }: AttachmentPart, id: string) {
  return { id, filename, content_type: contentType, size_bytes: sizeBytes, inline }
}

function idText(id: string | null): string | null {
  return id === null ? null : `<${id.slice(0, ID_MAX).toWellFormed()}>`
}
