// Input and output types of the threads that inspect and read messages.

import type { Arrival, AuthVerdict, Chunk, MessageTraits, OwnMessage, ParsedMessage } from '../mime/message.ts'
import type { Report } from '../reports/reported.ts'
import type { ScriptCall, SieveOutcome } from '../sieve/outcome.ts'
import type { SpamContent } from '../spam/score.ts'

/** The Sieve scripts of the recipients, in their order; null for a recipient without one. */
interface WithScripts {
  scripts: readonly (ScriptCall | null)[]
}

/** A message received by SMTP. `spamKey`: see `slotsOf`. */
export type InspectionRequest = Arrival & WithScripts & { spamKey: number }

/** A message sent from this appliance to one of its own mailboxes. */
export type OwnMessageRequest = OwnMessage & WithScripts

/** A message as it is stored: parsed, hashed and split into chunks. */
export interface InspectedContent {
  message: ParsedMessage
  /** SHA-256 and length of the bytes as they are stored, trace headers included. */
  hash: Uint8Array
  sizeBytes: number
  chunks: Chunk[]
}

/** The result of inspecting an arriving message. */
export interface Inspection extends InspectedContent {
  verdict: AuthVerdict
  /** The report (DSN, ARF) it contains; null when it is not one, or was not read as one. */
  report: Report | null
  /** Header sanity and other facts the spam score is made of, by name. */
  traits: MessageTraits
  /** What the content adds to the spam score; null for a report, and for a message of this appliance. */
  content: SpamContent | null
  /** SHA-256 of the bytes as received, without our trace fields: identifies duplicate deliveries. */
  arrivedHash: Uint8Array
  /** Outcomes of the recipients' Sieve scripts, in their order; null for a recipient without one. */
  scriptOutcomes: readonly (SieveOutcome | null)[]
  /** The message as scripts have changed its header; outcomes name them by index. Absent without any. */
  edited?: readonly InspectedContent[]
  /** Marks of the mailboxes that have forwarded it (see mime/forward.ts). */
  forwardMarks: readonly string[]
  /** Secrets of links that sign in here (see sign-in-links.ts). */
  linkTokens: readonly string[]
}

/** A message read as it is: parsed, hashed and split into chunks, without authentication or trace fields. */
export interface MessageReading {
  /** False when it has no header at all (RFC 5322 §2.2). */
  isMessage: boolean
  message: ParsedMessage
  /** When the previous server received it, by the newest Received field, in ms; null when absent. */
  arrivedAt: number | null
  /** SHA-256 and length of its bytes. */
  hash: Uint8Array
  sizeBytes: number
  chunks: Chunk[]
  /** Secrets of links that sign in here (see sign-in-links.ts). */
  linkTokens: readonly string[]
}
