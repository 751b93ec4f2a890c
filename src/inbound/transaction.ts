// An SMTP mail transaction (RFC 5321 §3.3): the client, the envelope sender and the recipients so far.

import type { RemoteName } from '../net/reverse-name.ts'
import type { EnvelopeSender } from '../smtp/envelope.ts'
import type { AcceptedRecipient, ReportRecipient } from './recipients.ts'

/** The SMTP client of a session. */
export interface Peer {
  address: string
  /** Reverse name, looked up in the background: 'unknown' until DNS has answered. */
  name: RemoteName
  helo: string
  /** "TLSv1.3 TLS_AES_256_GCM_SHA384" or null for plain text. */
  tls: string | null
  /** As RFC 3848 and RFC 6531 name it for the Received field. */
  protocol: string
}

export interface MailTransaction {
  /** Identifies the transaction in the reply, the Received field and the log. */
  queueId: string
  sender: EnvelopeSender
  recipients: AcceptedRecipient[]
  /** Set for a report address, which is then the only recipient. */
  report: ReportRecipient | null
}
