// One DNS query to one name server: over UDP, and over TCP when the answer is truncated or forged answers are suspected.

import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { AUTHENTIC_DATA, type DecodedPacket, decode, encode, type Question, RECURSION_DESIRED } from 'dns-packet'
import type { Clock } from './clock.ts'

/** A name server: an IP address and a port. */
export interface NameServer {
  address: string
  port: number
  /** Its host name, where it is known. */
  name?: string
}

/** A response, with its size on the wire in bytes. */
export interface DnsReply {
  packet: DecodedPacket
  rcode: string
  bytes: number
}

/** Options of one query. */
export interface DnsQueryOptions {
  server: NameServer
  clock: Clock
  timeoutMs: number
  /** EDNS(0) announces a larger UDP payload; some old servers answer it with FORMERR. */
  edns: boolean
  /** The server is to say whether it has validated the answer (AD in a query, RFC 6840 §5.7). */
  asksAuthentic?: boolean
  /** Contains, while the query is pending, the function that cancels it. */
  pendingCancels: Set<() => void>
}

// Fits any path without fragmentation (DNS flag day 2020): fragments can be forged.
const UDP_PAYLOAD = 1232
// This many mismatching answers indicate spoofing: the query is repeated over TCP (RFC 5452 9.3).
const MAX_WRONG_ANSWERS = 8

/** An error in the form of node:dns: callers check `code`. */
export function dnsError(code: string, question: { name: string; type: string }): Error {
  // Without a stack, as in node:dns: names that do not exist are asked for with every message, and the stack costs most of the error.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const error = new Error(`query ${question.type} ${question.name}: ${code}`)
  Error.stackTraceLimit = stackTraceLimit
  return Object.assign(error, { code, hostname: question.name })
}

/**
 * Sends the query and waits for the matching answer: same server, port, id and question (RFC 5452 9.1).
 * @throws an error with code ETIMEOUT, ECONNREFUSED, EBADRESP or ECANCELLED
 */
export async function exchange(question: Question, options: DnsQueryOptions): Promise<DnsReply> {
  return (await overUdp(question, options)) ?? overTcp(question, options)
}

function message(question: Question, { edns, asksAuthentic }: DnsQueryOptions): { id: number; bytes: Buffer } {
  const id = randomInt(0x10000)
  const additionals = edns
    ? [
        {
          type: 'OPT' as const,
          name: '.',
          udpPayloadSize: UDP_PAYLOAD,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ]
    : []
  const flags = RECURSION_DESIRED | (asksAuthentic === true ? AUTHENTIC_DATA : 0)
  const bytes = encode({ type: 'query', id, flags, questions: [question], additionals })
  return { id, bytes }
}

/** True for a response (not a query) with our id. */
function isOurs(bytes: Buffer, id: number): boolean {
  return bytes.length >= 12 && bytes.readUInt16BE(0) === id && (bytes[2]! & 0x80) !== 0
}

/** The response when it matches this question; null when it does not match or is malformed. */
function read(bytes: Buffer, id: number, question: Question): DnsReply | null {
  if (!isOurs(bytes, id)) return null
  try {
    const packet = decode(bytes)
    const asked = packet.questions?.[0]
    const fits = asked?.type === question.type && asked.name.toLowerCase() === question.name.toLowerCase()
    return fits ? { packet, rcode: (packet as unknown as { rcode: string }).rcode, bytes: bytes.length } : null
  } catch {
    return null
  }
}

/** Runs `begin` until it answers, times out or is canceled; `end` then always releases the socket. */
function attempt<T>(
  question: Question,
  options: DnsQueryOptions,
  begin: (done: (value: T) => void, failed: (code: string) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let finished = false
    const finish = (settle: () => void) => {
      if (finished) return
      finished = true
      timer.cancel()
      options.pendingCancels.delete(cancel)
      end()
      settle()
    }
    const failed = (code: string) => finish(() => reject(dnsError(code, question)))
    const cancel = () => failed('ECANCELLED')
    const timer = options.clock.after(options.timeoutMs, () => failed('ETIMEOUT'))
    options.pendingCancels.add(cancel)
    const end = begin((value) => finish(() => resolve(value)), failed)
  })
}

function overUdp(question: Question, options: DnsQueryOptions): Promise<DnsReply | null> {
  const { id, bytes } = message(question, options)
  return attempt<DnsReply | null>(question, options, (done, failed) => {
    // A separate socket for each query: the system picks an unpredictable port.
    const socket = createSocket(isIPv6(options.server.address) ? 'udp6' : 'udp4')
    let wrong = 0
    socket.on('error', () => failed('ECONNREFUSED'))
    socket.on('message', (datagram) => {
      // A truncated answer may end inside a record, so it is not parsed.
      const truncated = isOurs(datagram, id) && (datagram[2]! & 0x02) !== 0
      const reply = truncated ? null : read(datagram, id, question)
      if (reply !== null) done(reply)
      else if (truncated || ++wrong >= MAX_WRONG_ANSWERS) done(null)
    })
    // On a connected socket the system drops datagrams from other sources and reports a closed port.
    socket.on('connect', () => socket.send(bytes))
    socket.connect(options.server.port, options.server.address)
    return () => socket.close()
  })
}

function overTcp(question: Question, options: DnsQueryOptions): Promise<DnsReply> {
  const { id, bytes } = message(question, options)
  return attempt<DnsReply>(question, options, (done, failed) => {
    const socket = connect(options.server.port, options.server.address)
    const length = Buffer.alloc(2)
    length.writeUInt16BE(bytes.length)
    socket.write(Buffer.concat([length, bytes]))
    const parts: Buffer[] = []
    let size = 0
    socket.on('data', (part: Buffer) => {
      parts.push(part)
      size += part.length
      if (size < 2) return
      const all = parts.length === 1 ? part : Buffer.concat(parts.splice(0))
      parts[0] = all
      const wanted = all.readUInt16BE(0)
      if (size < wanted + 2) return
      const reply = read(all.subarray(2, wanted + 2), id, question)
      if (reply === null) failed('EBADRESP')
      else done(reply)
    })
    socket.on('error', () => failed('ECONNREFUSED'))
    socket.on('close', () => failed('EBADRESP'))
    return () =>
      socket
        .removeAllListeners()
        .on('error', () => {})
        .destroy()
  })
}
