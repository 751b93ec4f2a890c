// The contract of all transports: SMTP relays, provider APIs, direct delivery and local mailboxes.

import type { Tx } from '../../db/db.ts'
import type { Confirmation, DelayCause, Provider, RemoteReply } from './records.ts'

/** One message for one transport, with all its recipients. */
export interface Handover {
  /** `eml_…`; a provider may store it with the message. */
  emailId: string
  /** Address of the From field. */
  from: string
  /** Envelope sender; "" is the null sender. */
  mailFrom: string
  /** Envelope recipients, at least one. */
  recipients: readonly string[]
  /** The recipients that must not appear in To or Cc. */
  hidden: readonly string[]
  /** The exact bytes to send: signed, with CRLF line endings. */
  bytes: Uint8Array
  internetMessageId: string
  /** A mailbox forwards it: its From field is that of another author. */
  isForwarded: boolean
  /** A script has changed the header of the forwarded message. */
  isChanged: boolean
  /** True when the outcome of an earlier attempt is unknown: look for the message at the provider before sending it again. */
  uncertain: boolean
  /** Aborts when the shutdown timeout expires. */
  signal: AbortSignal
}

/** A message for mailboxes of this appliance. */
export interface LocalHandover extends Handover {
  /**
   * Records the outcomes of the recipients in the unit of work that stores the copies: after a crash both exist or neither.
   */
  record(tx: Tx, answered: Answered): void
}

/** A message for mail servers that must be found and connected to first. Its bytes are loaded only then. */
export interface DirectHandover extends Omit<Handover, 'bytes'> {
  /** True when the operator requests an attempt now, regardless of earlier failures of the destination. */
  isUrgent: boolean
  /**
   * Loads the bytes for one transfer over a ready connection.
   * @param use also receives the recipients that are still pending; it calls `onSent` when it needs the bytes no more
   * @returns null when the message must no longer be sent
   */
  lend<T>(use: (bytes: Uint8Array, recipients: readonly string[], onSent: () => void) => Promise<T>): Promise<T | null>
}

/** The transport's result for one recipient. */
export type Verdict =
  | { kind: 'sent'; reply: RemoteReply }
  /** @property notBefore earliest time in ms at which a retry can succeed; absent when unknown */
  | { kind: 'later'; reply: RemoteReply; cause: DelayCause; notBefore?: number }
  /**
   * `about` distinguishes a refused recipient from refused content (552, 554 5.6.x and 5.7.x at DATA); `stage` is set when the
   * server refused the whole message.
   */
  | { kind: 'never'; reply: RemoteReply; about: 'recipient' | 'content'; stage?: 'data' }

/** The stage that a test or an attempt reached (docs/design/sending.md §1). */
export type Stage = 'dns' | 'connect' | 'tls' | 'greeting' | 'auth' | 'sender' | 'recipient' | 'data' | 'api'

export type Handed =
  /** The transport processed the message: one verdict per recipient, in order. */
  | {
      kind: 'answered'
      verdicts: readonly Verdict[]
      confirmation: Confirmation
      /** Ids that the provider assigned to the message; replies and reports may reference them. */
      remoteIds: readonly string[]
      /** Name of the server that answered. */
      peer: string
      /** True when DNS names no server that could be asked: nothing was attempted. */
      isUnroutable?: true
    }
  /** The account failed before it accepted anything: another account may be used (docs/design/sending.md §7, last sentence). */
  | { kind: 'unavailable'; stage: Stage; reply: RemoteReply; cause: DelayCause; retryAfterMs: number | null }

export type Answered = Extract<Handed, { kind: 'answered' }>
export type Unavailable = Extract<Handed, { kind: 'unavailable' }>

/** The message was not offered to any server; the next attempt is possible from `until` (ms) on. */
export interface NotTried {
  kind: 'not_tried'
  until: number
  /** The recent failure that causes the delay; null while connections for other messages are still being opened. */
  failure: { reply: RemoteReply; cause: DelayCause } | null
}

/** The result of an account test (docs/design/sending.md §1). */
export interface CheckResult {
  success: boolean
  /** The last stage reached. */
  stage: Stage
  smtpCode: number | null
  /** One human-readable sentence, at most 300 characters, without secrets. */
  message: string
  /** Whether the server accepts a VERP envelope sender of our domain; absent when not tested. */
  verp?: boolean
}

/** One transport. All its operations have timeouts; it never throws for failures of the remote side. */
export interface Transport {
  hand(handover: Handover): Promise<Handed>
  /**
   * Connects, starts TLS, authenticates and offers the real envelope; with an address, also sends a test message to it. At most 15 s.
   */
  check(to: string | null): Promise<CheckResult>
  /** Closes idle connections; busy ones close after their message. */
  close(): Promise<void>
}

/** Delivery to mailboxes of this appliance. */
export interface LocalTransport extends Omit<Transport, 'hand'> {
  /** `isRecorded` is true when the outcomes are already stored. */
  hand(handover: LocalHandover): Promise<Answered & { isRecorded: boolean }>
}

/** Direct delivery; all recipients of one hand-over share a domain. */
export interface DirectTransport extends Omit<Transport, 'hand'> {
  hand(handover: DirectHandover): Promise<Answered | NotTried>
}

/** Opens the transport of one version of a provider; only this decrypts its secrets. */
export type OpenTransport = (provider: Provider) => Transport | Promise<Transport>
