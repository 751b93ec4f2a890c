// Timeouts and limits for SMTP sessions with remote servers.

import { MINUTE_MS } from '../../../base/durations.ts'

// RFC 5321 §4.5.3.2 recommends five minutes for most of these. Shorter timeouts keep a slow server from delaying other messages;
// the queue retries it later.

/** Timeout in ms of a TCP connect to one address. */
export const CONNECT_MS = 10_000
/** Timeout in ms of the TLS handshake. */
export const TLS_MS = 30_000
/** Timeout in ms of the greeting: some servers delay it on purpose against spam. */
export const GREETING_MS = MINUTE_MS
/** Timeout in ms of the reply to one command. */
export const COMMAND_MS = 120_000
/** Timeout in ms of writing one chunk of a message (RFC 5321 §4.5.3.2.5). */
export const CHUNK_MS = 180_000
/** Timeout in ms of the reply to the end of data (RFC 5321 §4.5.3.2.6); a shorter one causes duplicates. */
export const CONTENT_MS = 600_000
/** Timeout in ms of all commands before the content together, regardless of their number. */
export const ENVELOPE_MS = 300_000
/** Minimum transfer rate in bytes per second; extends {@link ENVELOPE_MS} by the size of the message. */
export const CONTENT_BYTES_PER_S = 32 * 1024

/** Maximum number of addresses tried per server. */
export const ADDRESSES_MAX = 10
