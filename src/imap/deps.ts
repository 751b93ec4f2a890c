// What IMAP sessions share: the services of the appliance, the views of folders, the spool of messages, and counts.

import type { Context } from '../context.ts'
import type { ConnectionCounter } from '../net/connections.ts'
import type { Spool } from '../smtp/spool.ts'
import type { CompressionSlots } from './compressor.ts'
import type { ImapMetrics } from './metrics.ts'
import type { ViewCache } from './view-cache.ts'

export interface ImapDeps extends Context {
  /** Current UIDs of folders, shared by all sessions. */
  views: ViewCache
  /** Messages of APPEND and REPLACE while they arrive; apart from that of SMTP, so that neither holds up the other. */
  appendSpool: Spool
  connections: ConnectionCounter
  /** Connections that may compress. */
  compression: CompressionSlots
  metrics: ImapMetrics
}
