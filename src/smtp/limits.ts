// The bounds of the SMTP door: how much, how many and how long.

/** Largest mail in bytes (decisions §10.16). */
export const MAX_MAIL_BYTES = 52_428_800
/** Recipients of one transaction; RFC 5321 4.5.3.1.8 asks for at least 100. */
export const MAX_RECIPIENTS = 100
/** Refused commands of one session since its last accepted mail. */
export const MAX_ERRORS = 50
/** Received fields from which a mail is taken to loop; RFC 5321 6.3 asks for at least 100. */
export const MAX_RECEIVED = 100

/** Offences of a source (unknown recipients, refused messages, protocol errors) that cost nothing, and from which it is put off. */
export const OFFENCE_FREE = 20
export const OFFENCE_BLOCK = 100
/** Most offences, and most credit, that a source is remembered for. */
export const OFFENCE_LIMIT = 200
/** Offences that an accepted message makes up for. */
export const ACCEPTED_CREDIT = 2
/** Time in which what a source did counts half, in ms. */
export const OFFENCE_HALF_LIFE_MS = 3_600_000
/** Longest wait before a command of a source is carried out, in ms. */
export const THROTTLE_MS = 10_000
/** Sources whose offences are remembered. */
export const MAX_THROTTLED_SOURCES = 10_000

/** Time for one whole command in ms; RFC 5321 4.5.3.2.7 asks for 5 minutes. */
export const COMMAND_MS = 300_000
/** Longest pause inside a mail in ms; RFC 5321 4.5.3.2.5 asks clients to send a block within 3 minutes. */
export const PAUSE_MS = 180_000
/** A mail has this long (ms), and a second more for every so many bytes that came: a drip ends, a slow line does not. */
export const CONTENT_MS = 300_000
export const CONTENT_BYTES_PER_S = 4096

/** Bytes of a mail kept in memory while it arrives; longer ones go to a file. */
export const SPOOL_MEMORY_BYTES = 1024 * 1024
/** Bytes of all arriving mails together in memory, and in files. */
export const ALL_MEMORY_BYTES = 64 * 1024 * 1024
export const ALL_SPOOL_BYTES = 4 * 1024 * 1024 * 1024
/** Bytes of mails being inspected and stored at once: a mail counts a few times its size until it is stored. */
export const AT_WORK_BYTES = 96 * 1024 * 1024
/** What the smallest mail counts for, so that their number is bounded too. */
export const AT_WORK_LEAST = 64 * 1024
/** Mails that wait for their turn; RFC 5321 4.5.3.2.6 has the peer of each wait 10 minutes for the answer. */
export const MAX_WAITING = 1000

/** Time a session under way has to come to its end when the door closes, in ms: containers are killed after 10 s. */
export const CLOSING_MS = 8000
/** How often deadlines are looked at, in ms. */
export const SWEEP_MS = 30_000
