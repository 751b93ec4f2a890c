// Adds the trace fields of a received message on top, and removes forged fields that claim to be ours (RFC 8601 §5).

import { isIP, isIPv6 } from 'node:net'
import type { Arrival, OwnMessage } from './message.ts'

const LF = 10
const SPACE = 32
const TAB = 9
/** Bytes of an Authentication-Results field that are read to find its authserv-id. */
const AUTHSERV_ID_BYTES_MAX = 4096

/** Fields only the receiving host may add: Return-Path (RFC 5321 §4.4), Received-SPF, spam verdicts, and its own results. */
const OURS = /^(?:return-path|received-spf|x-spam-[!-9;-~]*|authentication-results)[ \t\r\n]*:/i
const RESULTS = /^authentication-results/i
/** The longest name we look for is shorter than this. */
const NAME_BYTES_MAX = 100

/**
 * The message as it is stored: Return-Path, Delivered-To where it is wanted, Authentication-Results and Received in front (RFC 8601 4.1: above the other trace
 * fields), with forged fields of these names removed (RFC 8601 §5). All other bytes are unchanged.
 */
export function addTrace(bytes: Uint8Array, arrival: Arrival, resultsHeader: string): Uint8Array {
  const { deliveredTo = null } = arrival
  return prependFields(bytes, arrival, { results: resultsHeader, received: receivedValue(arrival), deliveredTo })
}

/** The same for a message of this appliance: no client host is named. @param results the value of our Authentication-Results field */
export function addOwnTrace(bytes: Uint8Array, own: OwnMessage, results: string): Uint8Array {
  return prependFields(bytes, own, {
    results,
    received: `by ${own.hostName} with local ${receipt(own)}`,
  })
}

/** The value of Authentication-Results for a message whose author we have authenticated (RFC 8601 §2.7.4). */
export function sentFromHere(hostName: string): string {
  return `${hostName};\r\n auth=pass reason="sent from this appliance"`
}

/** The value of Authentication-Results where nothing was verified (RFC 8601 §2.2). */
export function nothingVerified(hostName: string): string {
  return `${hostName}; none`
}

/** Where and when a message was received, and for which recipient. */
type Receipt = Pick<Arrival, 'mailFrom' | 'hostName' | 'queueId' | 'rcptTo' | 'receivedAt'>

interface TraceValues {
  results: string
  received: string
  deliveredTo?: string | null
}

function prependFields(bytes: Uint8Array, info: Receipt, values: TraceValues): Uint8Array {
  const { deliveredTo = null } = values
  const front = Buffer.from(
    `Return-Path: <${printable(info.mailFrom).replace(/[<>]/g, '')}>\r\n` +
      (deliveredTo === null ? '' : `Delivered-To: ${printable(deliveredTo)}\r\n`) +
      `Authentication-Results: ${values.results}\r\n` +
      `Received: ${values.received}\r\n`,
  )
  const cuts = forgedFields(bytes, info.hostName)
  const removed = cuts.reduce((sum, cut) => sum + cut.end - cut.start, 0)
  const out = new Uint8Array(front.length + bytes.length - removed)
  out.set(front)
  let at = front.length
  let from = 0
  for (const { start, end } of [...cuts, { start: bytes.length, end: bytes.length }]) {
    out.set(bytes.subarray(from, start), at)
    at += start - from
    from = end
  }
  return out
}

/** RFC 5321 4.4: from, by, with, id, for, and the time. */
function receivedValue(arrival: Arrival): string {
  const literal = isIPv6(arrival.remoteAddress) ? `[IPv6:${arrival.remoteAddress}]` : `[${arrival.remoteAddress}]`
  const peer = isIP(arrival.remoteAddress) === 0 ? '[unknown]' : literal
  const name = arrival.remoteName !== null && isHost(arrival.remoteName) ? `${arrival.remoteName} ` : ''
  const tls = arrival.tls === null ? '' : ` (${printable(arrival.tls).replace(/[()\\]/g, '')})`
  return (
    `from ${isHost(arrival.helo) ? arrival.helo : peer} (${name}${peer})\r\n` +
    ` by ${arrival.hostName} with ${arrival.protocol}${tls} ${receipt(arrival)}`
  )
}

function receipt({ queueId, rcptTo, receivedAt }: Receipt): string {
  const recipient = rcptTo === null ? '' : `\r\n for <${printable(rcptTo).replace(/[<>]/g, '')}>`
  return `id ${queueId}${recipient};\r\n ${rfc5322Date(receivedAt)}`
}

/** A domain or an address literal; any other HELO argument is not repeated. */
function isHost(text: string): boolean {
  return /^(?=.{1,255}$)(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|\[[a-z0-9.:]+\])$/i.test(text)
}

function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, '')
}

/** The date that was written last: many messages are received in a second. */
let written = { second: Number.NaN, text: '' }

/** A date in the format of RFC 5322 §3.3, always UTC. */
export function rfc5322Date(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== written.second) written = { second, text: new Date(ms).toUTCString().replace('GMT', '+0000') }
  return written.text
}

interface Cut {
  start: number
  end: number
}

/** One pass over the whole header: a forged field must not be hidden behind a limit of the parser. */
function forgedFields(bytes: Uint8Array, hostName: string): Cut[] {
  const cuts: Cut[] = []
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let start = 0
  while (start < bytes.length && !isEmptyLine(bytes, start)) {
    const end = fieldEnd(bytes, start)
    const name = text.toString('latin1', start, Math.min(end, start + NAME_BYTES_MAX))
    if (OURS.test(name) && (!RESULTS.test(name) || claimsHost(text, start, end, hostName))) cuts.push({ start, end })
    start = end
  }
  return cuts
}

function isEmptyLine(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === LF || (bytes[at] === 13 && bytes[at + 1] === LF)
}

/** Behind the last line of the field that starts here, continuation lines included. */
function fieldEnd(bytes: Uint8Array, start: number): number {
  let at = start
  do {
    const lineEnd = bytes.indexOf(LF, at)
    if (lineEnd < 0) return bytes.length
    at = lineEnd + 1
  } while (bytes[at] === SPACE || bytes[at] === TAB)
  return at
}

function claimsHost(text: Buffer, start: number, end: number, hostName: string): boolean {
  const field = text.toString('latin1', start, Math.min(end, start + AUTHSERV_ID_BYTES_MAX))
  const host = hostName.toLowerCase()
  const id = authservId(field.slice(field.indexOf(':') + 1))
  // An authserv-id we cannot parse, another client may read as ours.
  if (id === null) return text.toString('latin1', start, end).toLowerCase().includes(host)
  return id.toLowerCase().replace(/\.$/, '') === host
}

/** The authserv-id of RFC 8601 2.2: a token or quoted string behind comments and folding; null when there is none. */
function authservId(value: string): string | null {
  const at = skipComments(value)
  if (at === null) return null
  const quoted = /^"((?:[^"\\]|\\.)*)"/s.exec(value.slice(at))
  if (quoted !== null) return quoted[1]!.replace(/\\(.)/gs, '$1').replace(/\r?\n/g, '')
  return /^[^\s;()"=]+/.exec(value.slice(at))?.[0] ?? null
}

/** Where white space and (nested) comments at the start of the text end; null when a comment never does. */
function skipComments(text: string): number | null {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (depth > 0 && char === '\\') at++
    else if (char === '(') depth++
    else if (char === ')' && depth > 0) depth--
    else if (depth === 0 && !/\s/.test(char)) return at
  }
  return depth === 0 ? text.length : null
}
