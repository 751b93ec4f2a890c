// What outside accounts use of the other rooms.

import type { OutboundDeps } from '../../outbound/model/deps.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { CloseLinks } from '../../store/mailbox/delivery.ts'

export interface SyncDeps extends OutboundDeps {
  outbound: Outbound
  closeLinks: CloseLinks
}
