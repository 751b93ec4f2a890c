// The contract of everything that takes a mail off our hands.

import type { Tx } from '../../db/db.ts'
import type { Confirmation, DelayCause, Provider, Reply } from '../records.ts'

/** One mail for one carrier: all recipients travel together. */
export interface Handover {
  /** `eml_…`, the mark a provider may keep with the mail. */
  emailId: string
  /** Address of the From field. */
  from: string
  /** Envelope sender; "" is the null sender. */
  mailFrom: string
  /** Envelope recipients, at least one. */
  recipients: readonly string[]
  /** Those of them that no To or Cc field may show. */
  hidden: readonly string[]
  /** Exactly the bytes that leave, signed, CRLF line ends. */
  bytes: Uint8Array
  internetMessageId: string
  /** True when an earlier try ended without our knowing how: look for the mail at the provider before sending it again. */
  uncertain: boolean
  /** Aborted when the house closes and patience has run out. */
  signal: AbortSignal
}

/** A message for mailboxes of this appliance. */
export interface LocalHandover extends Handover {
  /**
   * Writes down what became of the recipients, as part of the unit of work that stores the copies: after a crash there are both or
   * neither.
   */
  record(tx: Tx, answered: Answered): Promise<void>
}

/** A message for mail servers that have to be found and connected to first. Until then nothing of it is in memory. */
export interface DirectHandover extends Omit<Handover, 'bytes'> {
  /** True when the operator wants it tried now, whatever failed for its destination before. */
  isUrgent: boolean
  /**
   * Lends the bytes for one transfer over a connection that is ready.
   * @param use gets the recipients that still want the message, too
   * @returns null when the message must not leave any more
   */
  lend<T>(use: (bytes: Uint8Array, recipients: readonly string[]) => Promise<T>): Promise<T | null>
}

/** What the carrier said of one recipient. */
export type Verdict =
  | { kind: 'sent'; reply: Reply }
  /** @property notBefore when trying again can help at the earliest, ms; left out where nobody knows */
  | { kind: 'later'; reply: Reply; cause: DelayCause; notBefore?: number }
  /** `about` tells a refusal of the recipient from one of the mail itself (552, 554 5.6.x and 5.7.x at DATA); `stage` is set where the whole message was refused. */
  | { kind: 'never'; reply: Reply; about: 'recipient' | 'content'; stage?: 'data' }

/** Decisions §3.1: how far a test or a try came. */
export type Stage = 'dns' | 'connect' | 'tls' | 'greeting' | 'auth' | 'sender' | 'recipient' | 'data' | 'api'

export type Handed =
  /** The carrier looked at the mail: one verdict per recipient, in their order. */
  | {
      kind: 'answered'
      verdicts: readonly Verdict[]
      confirmation: Confirmation
      /** Ids the provider gave the mail: replies and reports may name them. */
      remoteIds: readonly string[]
      /** Name of the server that answered. */
      peer: string
    }
  /** The account itself failed before anything was accepted: another one may do (decisions §6.2, last sentence). */
  | { kind: 'unavailable'; stage: Stage; reply: Reply; cause: DelayCause; retryAfterMs: number | null }

export type Answered = Extract<Handed, { kind: 'answered' }>
export type Unavailable = Extract<Handed, { kind: 'unavailable' }>

/** The message was not offered to any server, and may be from `until` (ms) on. */
export interface NotTried {
  kind: 'not_tried'
  until: number
  /** What failed for others a moment ago; null when nothing did, and a connection is being made for others. */
  failure: { reply: Reply; cause: DelayCause } | null
}

/** What a test of an account found (decisions §3.1). */
export interface CheckResult {
  success: boolean
  /** The last stage reached. */
  stage: Stage
  smtpCode: number | null
  /** One sentence a person understands, at most 300 characters, without secrets. */
  message: string
  /** Whether the server takes an envelope sender of ours for each message; left out where that was not tried. */
  verp?: boolean
}

/** One carrier. Everything in it is bounded in time; it never throws for what the other side does. */
export interface Transport {
  hand(handover: Handover): Promise<Handed>
  /**
   * Connects, secures, signs in and offers the real envelope; with an address also sends a one-line test message to it. At most 15 s.
   */
  check(to: string | null): Promise<CheckResult>
  /** Ends idle connections; those in use end with their mail. */
  close(): Promise<void>
}

/** Our own mailboxes. */
export interface LocalTransport extends Omit<Transport, 'hand'> {
  /** `isRecorded` says that the outcomes are written down already. */
  hand(handover: LocalHandover): Promise<Answered & { isRecorded: boolean }>
}

/** Our own MTA; all recipients of one hand-over have the same domain. */
export interface DirectTransport extends Omit<Transport, 'hand'> {
  hand(handover: DirectHandover): Promise<Answered | NotTried>
}

/** Makes the transport of one version of a provider; secrets are opened here and nowhere else. */
export type OpenTransport = (provider: Provider) => Promise<Transport>
