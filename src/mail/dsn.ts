// Writes the report a sender gets when a mail could not be delivered (RFC 3464 in the multipart/report of RFC 6522).

import type { Address } from './mail.ts'

/** One recipient that is not reached. */
export interface FailedRecipient {
  email: string
  /** RFC 3463. */
  status: string
  /** What the other server said; "" when nobody answered. */
  diagnostic: string
  remoteMta: string | null
  /** ms */
  lastAttemptAt: number
}

export interface DsnInput {
  /** Who reports: our host name. */
  reportingMta: string
  from: Address
  to: Address
  /** Without angle brackets. */
  messageId: string
  /** ms */
  date: number
  /** When the mail was accepted, ms. */
  arrivedAt: number
  /** ENVID: our id of the mail. */
  envelopeId: string
  subject: string
  /** Message-ID of the mail, without angle brackets. */
  originalMessageId: string
  recipients: readonly FailedRecipient[]
  /** The mail that failed; only its header is given back. */
  original: Uint8Array
}

/** CRLF line ends, 7-bit but for addresses beyond ASCII (RFC 6533). */
export function composeDsn(_input: DsnInput): Buffer {
  throw new Error('not built')
}
