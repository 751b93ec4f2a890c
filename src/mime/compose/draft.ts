// A mail before it is written: what its sender meant, checked, nothing encoded yet.

import type { Address } from '../message.ts'

export interface DraftHeader {
  name: string
  value: string
}

export interface DraftAttachment {
  filename: string
  /** type/subtype; null: told by the file name's extension. */
  type: string | null
  content: Uint8Array
  disposition: 'attachment' | 'inline'
  /** Without angle brackets; the HTML body names it as `cid:…`. */
  contentId: string | null
}

/** Everything in it has passed draft-rules.ts and attachment-rules.ts. */
export interface Draft {
  from: Address
  to: readonly Address[]
  cc: readonly Address[]
  /** Never written. */
  bcc: readonly Address[]
  replyTo: readonly Address[]
  subject: string
  textBody: string | null
  htmlBody: string | null
  /** Fields beside those the other members stand for. */
  headers: readonly DraftHeader[]
  attachments: readonly DraftAttachment[]
  /** Without angle brackets. */
  messageId: string
  /** The Date field, ms. */
  date: number
  /** Message-ID without angle brackets. */
  inReplyTo: string | null
  references: readonly string[]
}
