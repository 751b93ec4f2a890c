// A mail as somebody wants it sent, before anything of it was checked, and what became of the wish.

import type { ProductError } from '../../base/errors.ts'
import type { Address } from '../../mail/mail.ts'

/** Who sends: a root key for its team, or a mailbox. */
export type Sender = { kind: 'team'; teamId: string } | { kind: 'mailbox'; teamId: string; mailboxId: string }

/** A text; as UTF-8 where it is long, because bytes move between threads without being copied. */
export type Text = string | Uint8Array

export interface NewAttachment {
  filename: string
  /** Media type; null: by the extension. */
  type: string | null
  content: Uint8Array
  disposition: 'attachment' | 'inline'
  /** Without angle brackets. */
  contentId: string | null
}

/** What is given is as the sender wrote it. Fields of errors are named as on the wire, relative to the message. */
export interface NewMail {
  /** Null: the mailbox itself, or the default of one of the team's accounts. */
  from: Address | null
  to: readonly Address[]
  cc: readonly Address[]
  bcc: readonly Address[]
  replyTo: readonly Address[]
  subject: string
  textBody: Text | null
  htmlBody: Text | null
  headers: readonly { name: string; value: string }[]
  attachments: readonly NewAttachment[]
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
  /** The copy in Sent (`msg_…`) and its thread; null when none was wanted. */
  messageId: string | null
  threadId: string | null
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
