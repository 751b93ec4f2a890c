// One mail transaction: who talks to us, who it is from, and who it is for so far.

import type { RemoteName } from '../net/reverse-name.ts'
import type { Sender } from '../smtp/envelope.ts'
import type { Recipient, ReportRecipient } from './recipients.ts'

/** The other side of a session, as far as it is known. */
export interface Peer {
  address: string
  /** Looked up in the background: 'unknown' until DNS has answered. */
  name: RemoteName
  helo: string
  /** "TLSv1.3 TLS_AES_256_GCM_SHA384" or null for plain text. */
  tls: string | null
  /** As RFC 3848 and RFC 6531 name it for the Received field. */
  protocol: string
}

export interface Transaction {
  /** Names the transaction to the peer, in the Received field and in the log. */
  queueId: string
  sender: Sender
  recipients: Recipient[]
  /** Set when it is for an address of reports: such a one travels alone. */
  report: ReportRecipient | null
}
