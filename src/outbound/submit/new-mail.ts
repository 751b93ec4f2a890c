// A mail as somebody wants it sent, before anything of it was checked, and what became of the wish.

import type { ProductError } from '../../base/errors.ts'
import type { RoughAttachment, Text } from '../../mime/compose/outgoing-content.ts'
import type { Address } from '../../mime/message.ts'
import type { EmailSource } from '../records.ts'

/** Who sends, and by which way: a root key for its team, or a mailbox. */
export type Sender = { source: Exclude<EmailSource, 'system'> } & (
  | { kind: 'team'; teamId: string }
  | { kind: 'mailbox'; teamId: string; mailboxId: string }
)

/** What is given is as the sender wrote it. Fields of errors are named as on the wire, relative to the message. */
export interface NewMail {
  /** Null: the mailbox itself, or the default of one of the team's accounts. */
  from: Address | null
  to: readonly Address[]
  cc: readonly Address[]
  /** Null: those of the identity it is sent as. */
  bcc: readonly Address[] | null
  /** Null: as the identity, or the account whose address was taken, says. */
  replyTo: readonly Address[] | null
  subject: string
  textBody: Text | null
  htmlBody: Text | null
  /** Custom headers by name. */
  headers: Readonly<Record<string, string>>
  attachments: readonly RoughAttachment[]
  returnPath: string | null
  /** The message (`msg_…`) of the sending mailbox that is answered. */
  inReplyTo: string | null
  /** When it may leave (ms); null: at once. */
  sendAt: number | null
  /** Held back for so long beyond that, in seconds. */
  undoSeconds: number
  /** Mailboxes only: keeps a copy in Sent. */
  saveToSent: boolean
}

/** The submission of a mailbox that was made of a mail. */
export interface MadeSubmission {
  /** `sub_…` */
  id: string
  /** The copy in Sent (`msg_…`); null when none was wanted. */
  messageId: string | null
}

export type Submitted =
  | {
      kind: 'accepted'
      /** `eml_…` */
      emailId: string
      /** Earliest time it leaves, ms. */
      sendAt: number
      /** `rejected` when no recipient may be written to: the log tells why. */
      state: 'scheduled' | 'queued' | 'rejected'
      /** Null for root keys. */
      submission: MadeSubmission | null
    }
  | { kind: 'failed'; error: ProductError }
