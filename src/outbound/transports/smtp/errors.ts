// What ends a conversation with a mail server before the mail has its answer, told in a sentence a person understands.

import type { DelayCause, Reply } from '../../records.ts'
import type { Stage } from '../transport.ts'
import { ownReply } from './reply.ts'

/**
 * `lost`: the connection is gone. `refused`: the server said no, its words are in the reply. `timeout`: it was silent for too long.
 * `babble`: what it said cannot be a reply to what was asked. `tls`: no secure connection came about.
 */
export type FaultKind = 'unreachable' | 'lost' | 'refused' | 'timeout' | 'babble' | 'tls' | 'aborted'

export class Fault extends Error {
  readonly kind: FaultKind
  /** How far the conversation had come. */
  readonly stage: Stage
  readonly reply: Reply
  /** What holds the mail up. */
  override readonly cause: DelayCause

  constructor(kind: FaultKind, stage: Stage, reply: Reply, cause: DelayCause = 'network') {
    super(reply.text)
    this.kind = kind
    this.stage = stage
    this.reply = reply
    this.cause = cause
  }
}

const DURING: Record<Stage, string> = {
  dns: 'while its name was looked up',
  connect: 'while the connection was made',
  tls: 'while the connection was being secured',
  greeting: 'before it had greeted',
  auth: 'during sign-in',
  sender: 'before it had answered to the sender',
  recipient: 'before it had answered to all recipients',
  data: 'before it had answered to the mail',
  api: 'before it had answered',
}

/** @param peer name of the server */
export function lost(peer: string, stage: Stage): Fault {
  return new Fault('lost', stage, ownReply(`${peer} ended the connection ${DURING[stage]}.`))
}

/** @param ms how long it was waited for */
export function tooSlow(peer: string, stage: Stage, ms: number): Fault {
  const sentence = `${peer} did not answer within ${Math.round(ms / 1000)} seconds, ${DURING[stage]}.`
  return new Fault('timeout', stage, ownReply(sentence))
}

/** @param what end of a sentence that begins with the server's name */
export function babble(peer: string, stage: Stage, what: string): Fault {
  return new Fault('babble', stage, ownReply(`${peer} ${what}.`), 'transient')
}

export function aborted(stage: Stage): Fault {
  return new Fault('aborted', stage, ownReply('The appliance was closing; the mail is tried again.'), 'transient')
}

/** RFC 3463: no way to the host. */
export const NO_ROUTE = '5.4.4'

const NOWHERE = {
  absent: (host: string) => `There is no host ${host}.`,
  unknown: (host: string) => `DNS does not answer for ${host}.`,
  private: (host: string) => `${host} lies in a private network, which is not allowed here.`,
}

/** @param kind why a host has no address that may be connected to */
export function nowhere(host: string, kind: keyof typeof NOWHERE): Fault {
  return new Fault('unreachable', 'dns', ownReply(NOWHERE[kind](host), kind === 'unknown' ? null : NO_ROUTE), 'dns')
}

/** Of two failures the one in a server's own words, else the first. */
export function moreTelling(first: Fault | null, second: Fault): Fault {
  return first === null || (first.reply.smtpCode === null && second.reply.smtpCode !== null) ? second : first
}

/** @param error what connecting to the address ended with */
export function unreachable(peer: string, address: string, port: number, error: { code?: string }): Fault {
  const why = CONNECT_ERRORS.get(error.code ?? '') ?? `cannot be reached (${error.code ?? 'unknown error'})`
  return new Fault('unreachable', 'connect', ownReply(`${peer} (${address}, port ${port}) ${why}.`))
}

const CONNECT_ERRORS = new Map([
  ['ECONNREFUSED', 'takes no connections'],
  ['ETIMEDOUT', 'does not answer'],
  ['EHOSTUNREACH', 'cannot be reached'],
  ['ENETUNREACH', 'lies in a network that cannot be reached from here'],
  ['ECONNRESET', 'broke the connection off'],
])

/** @param error what the handshake ended with: an error of node:tls */
export function insecure(peer: string, error: { code?: string; message: string }): Fault {
  const why = TLS_ERRORS.get(error.code ?? '')
  const sentence = why ? `The certificate of ${peer} ${why}.` : `No TLS with ${peer}: ${plain(error)}.`
  return new Fault('tls', 'tls', ownReply(sentence))
}

const UNTRUSTED = 'was not issued by an authority that is trusted here'
const TLS_ERRORS = new Map([
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'is not valid yet'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another name'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'is signed by itself'],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['CERT_REVOKED', 'was revoked'],
])

function plain({ code, message }: { code?: string; message: string }): string {
  // What answers in plain text where TLS is expected looks like a record of an unknown version.
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return 'the server does not speak TLS on this port'
  }
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the server broke the handshake off'
  // OpenSSL's own words are "error:0A000410:SSL routines::ssl/tls alert handshake failure".
  return message.replace(/^.*:(?=[^:]+$)/s, '').trim() || 'the handshake failed'
}
