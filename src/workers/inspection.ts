// What the threads that inspect and read messages are given, and what they answer.

import type { Arrival, AuthVerdict, Chunk, MailTraits, OwnMail, ParsedMail } from '../mime/message.ts'
import type { Report } from '../reports/reported.ts'
import type { Ruling, ScriptCall } from '../sieve/outcome.ts'

/** The Sieve scripts of the recipients, in their order; null for a recipient without one. */
interface WithScripts {
  scripts: readonly (ScriptCall | null)[]
}

/** A message that arrives from outside. */
export type InspectionRequest = Arrival & WithScripts

/** A message that was sent from this appliance to a mailbox of it. */
export type OwnMessageRequest = OwnMail & WithScripts

/** Everything found in one pass over an arriving mail: what the thread that inspects it hands back. */
export interface Inspection {
  verdict: AuthVerdict
  mail: ParsedMail
  /** What it reports of mail that was sent; null when it is no report, or nobody asked. */
  report: Report | null
  /** Header sanity and other facts the spam score is made of, by name. */
  traits: MailTraits
  /** SHA-256 and length of the bytes as they are stored, trace headers included. */
  hash: Uint8Array
  sizeBytes: number
  chunks: Chunk[]
  /** SHA-256 of the bytes as they arrived, without our trace headers: tells a repeated delivery. */
  arrivedHash: Uint8Array
  /** What the scripts of the recipients want done, in their order; null for one without. */
  rulings: readonly (Ruling | null)[]
  /** Secrets of links that sign in here (see sign-in-links.ts). */
  linkTokens: readonly string[]
}

/** A mail as somebody who may keep it hands it in: read, hashed and cut, but neither judged nor written into. */
export interface Reading {
  /** False when it has no header at all (RFC 5322 2.2): then it is something else. */
  isMail: boolean
  mail: ParsedMail
  /** When it came to whoever had it before, by the newest Received field; null when none says so. ms. */
  arrivedAt: number | null
  /** SHA-256 and length of its bytes. */
  hash: Uint8Array
  sizeBytes: number
  chunks: Chunk[]
}
