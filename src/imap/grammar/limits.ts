// Bounds of an IMAP session (docs/design/mail-programs.md §2.5): what a client may send, and how long a session may wait for it.

/** Bounds of one command while it is read. */
export interface ReadLimits {
  /** All lines of a command together, without its literals, bytes. */
  lineBytes: number
  /** One literal that is no message, bytes. */
  literalBytes: number
  /** All literals of a command together, bytes. */
  literalsBytes: number
  literals: number
  /** A non-synchronising literal (RFC 7888), bytes; above it the connection ends. */
  nonSyncBytes: number
}

const KIB = 1024

/** LITERAL- of RFC 7888: 4,096 bytes. */
export const BEFORE_LOGIN: ReadLimits = {
  lineBytes: 8 * KIB,
  literalBytes: 4 * KIB,
  literalsBytes: 16 * KIB,
  literals: 4,
  nonSyncBytes: 4 * KIB,
}

/** LITERAL+ of RFC 7888. */
export const AFTER_LOGIN: ReadLimits = {
  lineBytes: 64 * KIB,
  literalBytes: 128 * KIB,
  literalsBytes: KIB * KIB,
  literals: 1000,
  nonSyncBytes: 128 * KIB,
}

/** One response line of AUTHENTICATE, bytes: a bearer token with its frame. */
export const SASL_LINE_BYTES = 16 * KIB

/** Largest message of APPEND and REPLACE, bytes; announced as APPENDLIMIT (RFC 7889). */
export const MESSAGE_BYTES = 52_428_800
/** Messages of one MULTIAPPEND (RFC 3502), and their bytes together. */
export const APPEND_MESSAGES = 50
export const APPEND_BYTES = 104_857_600

/** Messages that SORT and THREAD take. */
export const SORT_MESSAGES = 200_000
export const THREAD_MESSAGES = 100_000
/** Searches that may run in the search thread at a time, in all and of one mailbox: what they found is in memory. */
export const SEARCHES_AT_ONCE = 4
export const SEARCHES_PER_MAILBOX = 1
/** One turn of a search in the search thread, ms: other searches and the end of the session wait no longer. */
export const SEARCH_PAGE_MS = 50
/** What SORT and THREAD collect of header fields, bytes. */
export const SEARCH_FACTS_BYTES = 128 * KIB * KIB
export const SORT_CRITERIA = 20
export const SEARCH_KEYS = 100
export const SEARCH_DEPTH = 10
/** One string of SEARCH, bytes. */
export const SEARCH_STRING_BYTES = 1024
/** Ranges of one sequence set as written. */
export const SET_RANGES = 10_000
export const FETCH_ITEMS = 64
/** What the sections of one FETCH may read of a message: so many times its size, and at least so many bytes. */
export const FETCH_READS = 4
export const FETCH_READ_BYTES = KIB * KIB
export const FIELD_NAMES = 128
export const LIST_PATTERNS = 32
/** Mailbox names of one NOTIFY or ESEARCH. */
export const FILTER_NAMES = 500
/** Mailbox specifiers of one ESEARCH. */
export const SEARCH_SOURCES = 32
/** Event groups of one NOTIFY, and events of a group as written. */
export const NOTIFY_GROUPS = 32
export const NOTIFY_EVENTS = 32
/** One pattern of LIST, bytes. */
export const PATTERN_BYTES = 1024
export const STORE_FLAGS = 200
/** Changed entries that wait to be announced to one session. */
export const CHANGED_ENTRIES = 1000
/** Entries named by one GETMETADATA, SETMETADATA or LIST. */
export const METADATA_ENTRIES = 100
/** The name of an entry, bytes. */
export const ENTRY_BYTES = 255
/** RFC 2971 §3.3. */
export const ID_PAIRS = 30
export const ID_FIELD_BYTES = 30
export const ID_VALUE_BYTES = 1024
/** The line of ID before login: its pairs with their quotes. */
export const ID_LINE_BYTES = 34 * KIB
/** A keyword, bytes. */
export const KEYWORD_BYTES = 255

/** BAD answers until `* BYE`. */
export const ERRORS_BEFORE_LOGIN = 3
export const ERRORS_AFTER_LOGIN = 50

const SECOND = 1000
const MINUTE = 60 * SECOND
/** From the connection to the end of the login, ms. */
export const LOGIN_MS = 60 * SECOND
/** A command that has begun, after login, ms. */
export const STARTED_LINE_MS = 5 * MINUTE
/** Without a command, after login (RFC 9051 §5.4: at least 30 minutes), ms. */
export const SILENCE_MS = 30 * MINUTE
/** Without a byte within a literal, ms. */
export const LITERAL_PAUSE_MS = 3 * MINUTE
/** Mean rate below which a literal is given up, bytes per second, after {@link LITERAL_GRACE_MS}. */
export const LITERAL_RATE = 4 * KIB
export const LITERAL_GRACE_MS = 30 * SECOND
/** A client that takes no bytes, ms. */
export const UNREAD_MS = 5 * MINUTE
/** Between two `* OK Still here` of IDLE, ms. */
export const STILL_HERE_MS = 2 * MINUTE
/** Between two INPROGRESS of a command (RFC 9585 §3: 10 to 15 seconds), ms. */
export const PROGRESS_MS = 10 * SECOND
/** Between two looks at all deadlines, ms. */
export const SWEEP_MS = SECOND
/** Between two checks of credential, mailbox and team, ms. */
export const RECHECK_MS = 30 * SECOND

/** Output is written in pieces of this size, bytes. */
export const CORK_BYTES = 16 * KIB
/** Output that waits for the client, bytes; more is produced only below it. */
export const UNSENT_BYTES = 64 * KIB
/** Longest slice of work on the first thread, ms. */
export const SLICE_MS = 5
/** Longest quoted string, bytes; longer ones are literals. */
export const QUOTED_BYTES = 1000

/** Entries read at once by FETCH, and messages changed in one unit of work. */
export const FETCH_PAGE = 250
/** The same for FETCH of what entries have alone. */
export const ENTRIES_PAGE = 1000
export const STORE_PIECE = 200
export const COPY_PIECE = 200
