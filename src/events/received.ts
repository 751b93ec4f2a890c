// The event of a mail that came to rest in a mailbox (decisions §9.4).

import { isoTime } from '../base/clock.ts'
import type { Tx } from '../db/db.ts'
import type { Address, AttachmentPart, AuthResult, ParsedMail } from '../mime/message.ts'
import type { Outbox } from './outbox.ts'

/** One copy, as whoever stored it knows it. */
export interface ReceivedCopy {
  teamId: string
  /** `mdom_…` of the mailbox. */
  domainId: string
  mail: { inspection: { mail: ParsedMail; sizeBytes: number }; mailFrom: string; receivedAt: number }
  target: {
    mailboxId: string
    /** Address of the mailbox. */
    email: string
    rcptTo: string
    /** Whether it lies in Junk. */
    junk: boolean
    authentication: { spf: AuthResult; dkim: AuthResult; dmarc: AuthResult }
    spam: { score: number; reasons: readonly string[] }
  }
  delivered: {
    outcome: 'stored' | 'duplicate' | 'full' | 'discarded'
    messageId: string | null
    threadId: string | null
    folderIds: readonly string[]
    /** In the order of the mail's attachments. */
    attachmentIds: readonly string[]
  }
}

/** Decisions §9.3: entries of a list, and bytes of the data (64 KiB of event, less what stands around it). */
export const LIST_MAX = 50
export const DATA_BYTES_MAX = 63 * 1024
const NAME_MAX = 255
/** More than any id in use; the header of a stranger may have longer ones. */
const ID_MAX = 998

/** Tells of a copy in the unit of work that stored it; copies that were there already, found no room or were not wanted are told by nobody. */
export async function recordReceived(tx: Tx, outbox: Outbox, copy: ReceivedCopy): Promise<void> {
  if (copy.delivered.outcome !== 'stored') return
  const { target, mail } = copy
  await outbox.record(tx, {
    teamId: copy.teamId,
    type: target.junk ? 'message.received.spam' : 'message.received',
    mailboxId: target.mailboxId,
    domainId: copy.domainId,
    at: mail.receivedAt,
    data: receivedData(copy),
  })
}

/** The whole lists where they fit, as much of them as does otherwise. */
export function receivedData(copy: ReceivedCopy): Record<string, unknown> {
  for (let most = LIST_MAX; ; most = Math.floor(most / 2)) {
    const data = dataOf(copy, most)
    if (most === 0 || Buffer.byteLength(JSON.stringify(data)) <= DATA_BYTES_MAX) return data
  }
}

function dataOf({ mail, target, delivered }: ReceivedCopy, most: number): Record<string, unknown> {
  const { inspection, mailFrom, receivedAt } = mail
  const parsed = inspection.mail
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
    // What strangers wrote: not to be taken for instructions.
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
