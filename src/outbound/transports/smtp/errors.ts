// Errors that end an SMTP session before the message has its reply, each with a human-readable sentence.

import { CERTIFICATE_ERRORS, CONNECT_ERRORS } from '../../../net/peer-errors.ts'
import { failureOfCode, type TlsFailure } from '../../../tls-policy/failures.ts'
import type { DelayCause, RemoteReply } from '../../model/records.ts'
import type { Stage } from '../../model/transport.ts'
import type { PolicyFailure } from '../../tls/requirement.ts'
import { ownReply } from './reply.ts'

/**
 * `lost`: the connection closed. `refused`: the server sent a negative reply, see `reply`. `timeout`: the server did not answer in
 * time. `protocol`: the server violated the protocol. `tls`: TLS failed.
 */
export type SmtpErrorKind = 'unreachable' | 'lost' | 'refused' | 'timeout' | 'protocol' | 'tls' | 'aborted'

export class SmtpError extends Error {
  readonly kind: SmtpErrorKind
  /** The stage that the session reached. */
  readonly stage: Stage
  readonly reply: RemoteReply
  /** Why the message is delayed. */
  override readonly cause: DelayCause
  /** Why TLS failed, where it did. */
  readonly tlsFailure: TlsFailure | null

  constructor(
    kind: SmtpErrorKind,
    stage: Stage,
    reply: RemoteReply,
    cause: DelayCause = 'network',
    tlsFailure: TlsFailure | null = null,
  ) {
    super(reply.text)
    this.kind = kind
    this.stage = stage
    this.reply = reply
    this.cause = cause
    this.tlsFailure = tlsFailure
  }
}

const DURING: Record<Stage, string> = {
  dns: 'while its name was looked up',
  connect: 'while the connection was made',
  tls: 'while the connection was being secured',
  greeting: 'before its greeting',
  auth: 'during sign-in',
  sender: 'before it replied to the sender',
  recipient: 'before it replied to all recipients',
  data: 'before it replied to the message',
  api: 'before it had answered',
}

/** @param peer name of the server */
export function lost(peer: string, stage: Stage): SmtpError {
  return new SmtpError('lost', stage, ownReply(`${peer} ended the connection ${DURING[stage]}.`))
}

/** @param ms the timeout */
export function timedOut(peer: string, stage: Stage, ms: number): SmtpError {
  const sentence = `${peer} did not answer within ${Math.round(ms / 1000)} seconds, ${DURING[stage]}.`
  return new SmtpError('timeout', stage, ownReply(sentence))
}

/** @param what the rest of a sentence that starts with the server's name */
export function protocolError(peer: string, stage: Stage, what: string): SmtpError {
  return new SmtpError('protocol', stage, ownReply(`${peer} ${what}.`), 'transient')
}

export function aborted(stage: Stage): SmtpError {
  return new SmtpError(
    'aborted',
    stage,
    ownReply('The appliance was shutting down; the message will be retried.'),
    'transient',
  )
}

/** Enhanced status code for "unable to route" (RFC 3463 §3.5). */
export const NO_ROUTE = '5.4.4'

const NO_ADDRESS = {
  absent: (host: string) => `There is no host ${host}.`,
  unknown: (host: string) => `DNS does not answer for ${host}.`,
  looping: (host: string) => `The aliases (CNAME) of ${host} form a loop in DNS.`,
  private: (host: string) => `${host} is in a private network, which is not allowed here.`,
}

/** @param kind why the host has no usable address */
export function noAddress(host: string, kind: keyof typeof NO_ADDRESS): SmtpError {
  return new SmtpError(
    'unreachable',
    'dns',
    ownReply(NO_ADDRESS[kind](host), kind === 'unknown' ? null : NO_ROUTE),
    'dns',
  )
}

/** Prefers the failure that has a server's reply; otherwise the first. */
export function moreInformative(first: SmtpError | null, second: SmtpError): SmtpError {
  return first === null || (first.reply.smtpCode === null && second.reply.smtpCode !== null) ? second : first
}

/** @param error the socket error */
export function unreachable(peer: string, address: string, port: number, error: { code?: string }): SmtpError {
  const why = UNREACHABLE.get(error.code ?? '') ?? `cannot be reached (${error.code ?? 'unknown error'})`
  return new SmtpError('unreachable', 'connect', ownReply(`${peer} (${address}, port ${port}) ${why}.`))
}

const UNREACHABLE = new Map([...CONNECT_ERRORS, ['ECONNRESET', 'reset the connection']])

/** The server does not meet the TLS policy of the recipients' domain (docs/design/internet.md §5). */
export function policyError({ failure, enhancedCode, sentence }: PolicyFailure): SmtpError {
  return new SmtpError('tls', 'tls', ownReply(sentence, enhancedCode), 'tls_policy', failure)
}

export function noStartTls(host: string): SmtpError {
  const sentence = `${host} does not offer STARTTLS on this port.`
  return new SmtpError('tls', 'tls', ownReply(sentence), 'network', 'starttls-not-supported')
}

/** @param error the handshake error of node:tls */
export function insecure(peer: string, error: { code?: string; message: string }): SmtpError {
  const why = CERTIFICATE_ERRORS.get(error.code ?? '')
  const sentence = why ? `The certificate of ${peer} ${why}.` : `No TLS with ${peer}: ${plain(error)}.`
  return new SmtpError('tls', 'tls', ownReply(sentence), 'network', failureOfCode(error.code ?? ''))
}

function plain({ code, message }: { code?: string; message: string }): string {
  // OpenSSL reads a plaintext answer as a record of an unknown version.
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return 'the server does not speak TLS on this port'
  }
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the server aborted the handshake'
  // OpenSSL errors look like "error:0A000410:SSL routines::ssl/tls alert handshake failure".
  return message.replace(/^.*:(?=[^:]+$)/s, '').trim() || 'the handshake failed'
}
