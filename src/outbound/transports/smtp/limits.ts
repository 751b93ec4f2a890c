// How long a mail server may take, and how much is asked of it at a time.

// RFC 5321 4.5.3.2 asks for five minutes for most of these. A server that takes longer than ours is tried again later, and until
// then does not hold up the mail of others.

/** ms for one address to take the connection. */
export const CONNECT_MS = 10_000
/** ms for the handshake of TLS. */
export const TLS_MS = 30_000
/** ms for the greeting: some make strangers wait on purpose. */
export const GREETING_MS = 60_000
/** ms for the reply to one command. */
export const COMMAND_MS = 120_000
/** ms in which a stretch of a mail must be taken (RFC 5321 4.5.3.2.5). */
export const STRETCH_MS = 180_000
/** ms for the reply to the whole mail (RFC 5321 4.5.3.2.6): given up earlier, it would arrive twice. */
export const CONTENT_MS = 600_000
/** ms in which all commands before the mail itself must be answered, whatever their number. */
export const ENVELOPE_MS = 300_000
/** Bytes a second that a mail must get on with at least, in addition to {@link ENVELOPE_MS}. */
export const CONTENT_BYTES_PER_S = 32 * 1024

/** Addresses of one server that are tried. */
export const ADDRESSES_MAX = 10
