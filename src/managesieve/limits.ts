// Bounds of ManageSieve sessions (docs/design/mail-programs.md §4): connections, what a client may send, and how long it may take.

import { SCRIPT_BYTES_MAX } from '../sieve/lexer.ts'

/** Open connections: all, of one source, and signed in to one mailbox. People edit scripts now and then. */
export const CONNECTIONS = { total: 300, perAddress: 30, perMailbox: 10 }

/** Lines of one command together, without literals, bytes. */
export const LINE_BYTES = 4096
/** RFC 5804 §4: a quoted string has at most 1,024 octets. */
export const QUOTED_BYTES = 1024
/** A literal before login: the response of a mechanism, bytes. */
export const LITERAL_BEFORE_LOGIN = 16 * 1024
/** A literal that is kept, bytes: one more than a script may have. */
export const LITERAL_BYTES = SCRIPT_BYTES_MAX + 1
/** A longer literal is read and refused up to this size; a still longer one ends the connection. Bytes. */
export const DISCARDED_BYTES = 1024 * 1024
/** Arguments of a command; none has more than two. */
export const ARGUMENTS_MAX = 4
/** Wrong commands until the connection ends. */
export const ERRORS_MAX = 20

const SECOND = 1000
const MINUTE = 60 * SECOND
/** From the connection to the login, ms. */
export const LOGIN_MS = 60 * SECOND
/** A command that has begun to arrive, ms. */
export const STARTED_MS = 2 * MINUTE
/** Without a command (RFC 5804 §1.2: at least 30 minutes), ms. */
export const SILENCE_MS = 30 * MINUTE
/** A client that takes no bytes, ms. */
export const UNREAD_MS = 2 * MINUTE
/** Between two looks at all deadlines, ms. */
export const SWEEP_MS = SECOND
/** Output that waits for the client before the next command is read, bytes. */
export const UNSENT_BYTES = 64 * 1024
