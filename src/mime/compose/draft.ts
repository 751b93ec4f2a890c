// A draft: the validated input of the composer, not yet encoded.

import type { Address } from '../message.ts'

export interface DraftHeader {
  name: string
  value: string
}

export interface DraftAttachment {
  filename: string
  /** type/subtype; null: derived from the file name's extension. */
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
  /** Written only in an unsent message. */
  bcc: readonly Address[]
  /** A message in Drafts: it has a Bcc field (RFC 5322 §3.6.3), and may lack recipients and bodies. Never true for what is sent. */
  isUnsent?: boolean
  replyTo: readonly Address[]
  subject: string
  textBody: string | null
  htmlBody: string | null
  /** Additional header fields. */
  headers: readonly DraftHeader[]
  attachments: readonly DraftAttachment[]
  /** Without angle brackets. */
  messageId: string
  /** Seed of the boundaries, unknown to the authors of the content; the Message-ID by default. */
  seed?: string
  /** The Date field, ms. */
  date: number
  /** Message-ID without angle brackets. */
  inReplyTo: string | null
  references: readonly string[]
}
