// Limits of the SMTP listener: sizes, counts and timeouts.

import { HOUR_MS } from '../base/durations.ts'

/** Largest message in bytes (docs/design/receiving.md §1). */
export const MAX_MESSAGE_BYTES = 52_428_800
/** Recipients of one transaction; RFC 5321 §4.5.3.1.8 requires at least 100. */
export const MAX_RECIPIENTS = 100
/** Refused commands of one session since its last accepted message. */
export const MAX_ERRORS = 50
/** Received fields above which a message is considered looping; RFC 5321 §6.3 requires at least 100. */
export const MAX_RECEIVED = 100

/** Offences of a source (unknown recipients, refused messages, protocol errors) without effect, and from which it is blocked. */
export const OFFENCE_FREE = 20
export const OFFENCE_BLOCK = 100
/** Bounds of a source's score: most offences, and most credit. */
export const OFFENCE_LIMIT = 200
/** Offences that one accepted message offsets. */
export const ACCEPTED_CREDIT = 2
/** Half-life of a source's score, in ms. */
export const OFFENCE_HALF_LIFE_MS = HOUR_MS
/** Longest delay before a command of a throttled source runs, in ms. */
export const THROTTLE_MS = 10_000
/** Number of sources with a score. */
export const MAX_THROTTLED_SOURCES = 10_000

/** Time for one whole command in ms; RFC 5321 §4.5.3.2.7 requires 5 minutes. */
export const COMMAND_MS = 300_000
/** Longest pause during DATA in ms; RFC 5321 §4.5.3.2.5 asks clients to send a block within 3 minutes. */
export const PAUSE_MS = 180_000
/** Time for the content of a message in ms, plus one second per CONTENT_BYTES_PER_S received: ends slow-drip attacks, not slow lines. */
export const CONTENT_MS = 300_000
export const CONTENT_BYTES_PER_S = 4096

/** Bytes of a message spooled in memory; larger messages are spooled to a file. */
export const SPOOL_MEMORY_BYTES = 1024 * 1024
/** Bytes of all spooled messages together, in memory and in files. */
export const ALL_MEMORY_BYTES = 64 * 1024 * 1024
export const ALL_SPOOL_BYTES = 4 * 1024 * 1024 * 1024
/** Each source may have the disk space of one in so many. */
export const SPOOL_SOURCES = 8
/** Bytes of messages being inspected and stored concurrently; a message counts several times its size. */
export const IN_FLIGHT_BYTES = 96 * 1024 * 1024
/** Each source may have the memory of one in so many. */
export const IN_FLIGHT_SOURCES = 4
/** Least weight of a message, which bounds their number too. */
export const IN_FLIGHT_MIN_BYTES = 64 * 1024
/** Messages queued for inspection; RFC 5321 §4.5.3.2.6: clients wait 10 minutes for the reply. */
export const MAX_QUEUED = 1000

/** Interval of deadline checks, in ms. */
export const SWEEP_MS = 30_000
