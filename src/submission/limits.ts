// Limits of submission; lines, times and errors are those of smtp/limits.ts.

import { MINUTE_MS } from '../base/durations.ts'
import { RAW_MAX } from '../mime/compose/outgoing-content.ts'

/** Largest message in bytes (docs/design/mail-programs.md §3). */
export const SUBMITTED_BYTES_MAX = RAW_MAX
/** Recipients of one transaction. */
export const SUBMITTED_RECIPIENTS_MAX = 500
/** Longest line of AUTH in bytes (RFC 4954 §4). */
export const AUTH_LINE_BYTES = 12_288
/** Open connections in all, and of one mailbox. */
export const CONNECTIONS_MAX = 1000
export const CONNECTIONS_PER_MAILBOX_MAX = 30
/** Time until a client has signed in. ms */
export const SIGN_IN_MS = 5 * MINUTE_MS
/** Bytes of messages being received: in memory each and together, and on disk. */
export const SPOOL_LIMITS = { memoryEach: 1 << 20, memory: 32 << 20, disk: 2 * 2 ** 30, diskEach: 2 ** 29 }
/** Bytes of small messages being prepared at a time; a message counts several times its size. */
export const PREPARED_BYTES = 48 * 2 ** 20
/** Messages that may wait for it; clients wait 10 minutes for the reply (RFC 5321 §4.5.3.2.6). */
export const WAITING_MAX = 200
