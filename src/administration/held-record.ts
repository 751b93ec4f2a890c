// A held message as its approvers see it.

import type { HeldMessage } from '../outbound/held/held-rows.ts'
import type { StrangerRead } from '../outbound/held/stranger-reads.ts'
import type { SentMessageDetail } from '../outbound/log/sent-messages.ts'

/** A held message with what a person decides by. */
export interface HeldRecord {
  held: HeldMessage
  email: SentMessageDetail
  /** Messages of strangers that programs of the mailbox have read before, the last first. */
  read: StrangerRead[]
}
