// What IMAP sessions share: the services of the appliance, the views of folders, and the spool of messages.

import type { Context } from '../../context.ts'
import type { ConnectionCounter } from '../../net/connections.ts'
import type { Spool } from '../../smtp/spool.ts'
import type { Searcher } from '../search/searcher.ts'
import type { SortOrders } from '../search/sort-orders.ts'
import type { ThreadTexts } from '../search/thread-texts.ts'
import type { AnnotationChanges } from '../views/annotation-changes.ts'
import type { ViewCache } from '../views/view-cache.ts'
import type { CompressionSlots } from './compressor.ts'
import type { ImapMeters } from './meters.ts'

export interface ImapDeps extends Context {
  /** Current UIDs of folders, shared by all sessions. */
  views: ViewCache
  /** Annotations that sessions set. */
  annotationChanges: AnnotationChanges
  /** Large searches, in a thread of their own. */
  searcher: Searcher
  /** The orders of folders that sessions have asked for. */
  sortOrders: SortOrders
  /** The threads that sessions have asked for last. */
  threadTexts: ThreadTexts
  /** Messages of APPEND and REPLACE while they arrive; apart from that of SMTP, so that neither holds up the other. */
  appendSpool: Spool
  connections: ConnectionCounter
  /** Connections that may compress. */
  compression: CompressionSlots
  meters: ImapMeters
}
