// A requested message before its validation, and the result of its submission.

import type { ProductError } from '../../base/errors.ts'
import type { SignedInPerson } from '../../directory/names/principal.ts'
import type { EncodedAttachment, TextContent } from '../../mime/compose/outgoing-content.ts'
import type { Address } from '../../mime/message.ts'
import type { EmailSource } from './records.ts'

/** The sender and the API it uses: a root key of a team, or a mailbox. */
export type Sender = {
  source: Exclude<EmailSource, 'forward' | 'system'>
  /** The credential. */
  keyId?: string
  /** Set where a signed-in person sends. */
  person?: SignedInPerson | undefined
} & ({ kind: 'team'; teamId: string } | { kind: 'mailbox'; teamId: string; mailboxId: string })

/** Values are as given by the sender. Errors use the field names of the API, relative to the message. */
export interface NewMail {
  /** Null: the mailbox itself, or the default of one of the team's accounts. */
  from: Address | null
  /** Mailboxes only: the identity (`idn_…`) it is sent as, instead of `from`. */
  identityId?: string | null
  to: readonly Address[]
  cc: readonly Address[]
  /** Null: the Bcc addresses of the sending identity. */
  bcc: readonly Address[] | null
  /** Null: the Reply-To of the identity, or of the account whose address is the From address. */
  replyTo: readonly Address[] | null
  subject: string
  textBody: TextContent | null
  htmlBody: TextContent | null
  /** Custom headers by name. */
  headers: Readonly<Record<string, string>>
  /** Member of the request that had the headers, for errors. By default `custom_headers`. */
  headersAs?: 'headers'
  /** Message-IDs without angle brackets, as the sender names what is answered; the answered one is the last of `references`. */
  thread?: { inReplyTo: string | null; references: readonly string[] }
  attachments: readonly EncodedAttachment[]
  returnPath: string | null
  /** The message (`msg_…`) of the sending mailbox that it replies to. */
  inReplyTo: string | null
  /** Earliest time of the first attempt (ms); null: immediately. */
  sendAt: number | null
  /** Additional delay for undo, in seconds. */
  undoSeconds: number
  /** Mailboxes only: keeps a copy in Sent. */
  saveToSent: boolean
  /** Bytes of the mailbox that the caller frees in the same unit of work: those of the draft that is sent. */
  freedBytes?: number
  /** Members given as one address instead of a list: their errors have no index. By default `to` in a batch. */
  singles?: readonly string[]
  /** By name. */
  tags?: Readonly<Record<string, string>>
  metadata?: Readonly<Record<string, unknown>>
}

/** The submission of a mailbox that was created for a message. */
export interface MadeSubmission {
  /** `sub_…` */
  id: string
  /** The copy in Sent (`msg_…`); null when none was requested. */
  messageId: string | null
}

export type Submitted =
  | {
      kind: 'accepted'
      /** `eml_…` */
      emailId: string
      /** Earliest time of the first attempt, ms. */
      sendAt: number
      /** `held`: waits for a person. `rejected` when all recipients are suppressed: the delivery log has the reason. */
      state: 'scheduled' | 'held' | 'queued' | 'rejected'
      /** Null for root keys. */
      submission: MadeSubmission | null
    }
  | { kind: 'failed'; error: ProductError }
