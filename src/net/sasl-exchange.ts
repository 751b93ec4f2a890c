// What all SASL mechanisms share: the exchange of messages, the credentials it yields, and the bounds and encodings of messages.

import { isUtf8 } from 'node:buffer'
import type { ScramProof } from '../base/scram.ts'

/** Longest message of a client in bytes, decoded; a token or a secret is much shorter. */
export const SASL_MESSAGE_MAX = 4096

/** What a client claims; the form alone was checked. */
export type SaslCredentials =
  | { kind: 'password'; name: string; secret: string }
  /** OAuth bearer token; `name` is empty when the client gave none. */
  | { kind: 'bearer'; name: string; token: string }
  | { kind: 'scram'; name: string; proof: ScramProof }

/** What the mechanism wants next. */
export type SaslStep =
  /** Send `data` as a challenge and pass the client's response to `respond`. */
  | { next: 'challenge'; data: Buffer }
  /** Verify the credentials, then call `conclude`. */
  | { next: 'verify'; credentials: SaslCredentials }
  /** The client violated the mechanism: answer `BAD` (IMAP), `501 5.5.2` (SMTP) or `NO` (ManageSieve). */
  | { next: 'malformed'; reason: string }

/** What a verification found. `serverSignature` is that of `SignInResult`, for SCRAM. */
export interface SaslVerdict {
  accepted: boolean
  serverSignature?: Uint8Array | null
}

/** One authentication exchange. */
export interface SaslExchange {
  /** @param response decoded from base64; null when the command came without an initial response */
  respond(response: Buffer | null): SaslStep
  /**
   * @returns a last challenge to send, to which the client answers once more (its content is ignored), before the final reply; null for
   * none. With it a failed OAUTHBEARER says why (RFC 7628 §3.2.2), and a SCRAM server proves itself (RFC 5802 §3).
   */
  conclude(verdict: SaslVerdict): Buffer | null
}

/** What the mechanisms need from outside. */
export interface SaslDeps {
  /** Salt of SCRAM for a user name; the same for each request, and there is one for unknown names too. */
  scramSalt(name: string): Uint8Array
  /** Channel bindings of the connection, by type (see `channelBindings` in tls.ts); empty where TLS does not end here. */
  bindings: ReadonlyMap<string, Uint8Array>
  /** URL of the OAuth metadata document, sent with a failed OAUTHBEARER. */
  discovery: string
  /** The server's part of the nonce; random by default. */
  nonce?: () => string
}

/** @returns the text of a client's message; null when it is too long, not UTF-8, or contains NUL */
export function messageText(message: Buffer): string | null {
  return message.length <= SASL_MESSAGE_MAX && isUtf8(message) && !message.includes(0) ? message.toString() : null
}

/** Decodes a `saslname` (RFC 5801 §4, RFC 5802 §5.1). @returns null for another use of `=` */
export function readSaslName(written: string): string | null {
  const name = written.replaceAll('=2C', ',').replaceAll('=3D', '\u0000')
  return name.includes('=') ? null : name.replaceAll('\u0000', '=')
}

/** The empty challenge that asks a client for its first message (RFC 4422 §3). */
export const FIRST: SaslStep = { next: 'challenge', data: Buffer.alloc(0) }

export function malformed(reason: string): SaslStep {
  return { next: 'malformed', reason }
}
