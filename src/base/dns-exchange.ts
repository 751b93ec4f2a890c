// One question to one name server: over UDP, and over TCP when the answer does not fit or somebody seems to be guessing.

import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { type DecodedPacket, decode, encode, type Question, RECURSION_DESIRED } from 'dns-packet'
import type { Clock } from './clock.ts'

/** A name server: an IP address and a port. */
export interface NameServer {
  address: string
  port: number
}

/** What came back, with its size on the wire in bytes. */
export interface Reply {
  packet: DecodedPacket
  rcode: string
  bytes: number
}

/** How a question is put. */
export interface Way {
  server: NameServer
  clock: Clock
  timeoutMs: number
  /** EDNS(0) announces room for large answers; a few old servers answer it with FORMERR. */
  edns: boolean
  /** Holds, while the question is under way, what calls it off. */
  underWay: Set<() => void>
}

// What fits through any path without fragments (DNS flag day 2020): fragments can be forged.
const UDP_PAYLOAD = 1232
// So many wrong answers on one port are no accident: the question moves to TCP, where nobody can guess (RFC 5452 9.3).
const MAX_WRONG_ANSWERS = 8

/** An error as node:dns makes them: `code` is what callers look at. */
export function dnsError(code: string, question: { name: string; type: string }): Error {
  return Object.assign(new Error(`query ${question.type} ${question.name}: ${code}`), { code, hostname: question.name })
}

/**
 * Asks and waits for the one answer that fits: same server, port, id and question (RFC 5452 9.1).
 * @throws an error with code ETIMEOUT, ECONNREFUSED, EBADRESP or ECANCELLED
 */
export async function exchange(question: Question, way: Way): Promise<Reply> {
  return (await overUdp(question, way)) ?? overTcp(question, way)
}

function message(question: Question, edns: boolean): { id: number; bytes: Buffer } {
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
  const bytes = encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [question], additionals })
  return { id, bytes }
}

/** True for an answer, not a question, that bears our id. */
function isOurs(bytes: Buffer, id: number): boolean {
  return bytes.length >= 12 && bytes.readUInt16BE(0) === id && (bytes[2]! & 0x80) !== 0
}

/** The reply when the bytes are one to this question; null when they are somebody else's or broken. */
function read(bytes: Buffer, id: number, question: Question): Reply | null {
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

/** Runs `begin` until it answers, the time is up or it is called off; `end` then lets go of the socket, always. */
function attempt<T>(
  question: Question,
  way: Way,
  begin: (done: (value: T) => void, failed: (code: string) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let finished = false
    const finish = (settle: () => void) => {
      if (finished) return
      finished = true
      timer.cancel()
      way.underWay.delete(cancel)
      end()
      settle()
    }
    const failed = (code: string) => finish(() => reject(dnsError(code, question)))
    const cancel = () => failed('ECANCELLED')
    const timer = way.clock.after(way.timeoutMs, () => failed('ETIMEOUT'))
    way.underWay.add(cancel)
    const end = begin((value) => finish(() => resolve(value)), failed)
  })
}

function overUdp(question: Question, way: Way): Promise<Reply | null> {
  const { id, bytes } = message(question, way.edns)
  return attempt<Reply | null>(question, way, (done, failed) => {
    // A socket of its own for each question: the system picks a port nobody can know.
    const socket = createSocket(isIPv6(way.server.address) ? 'udp6' : 'udp4')
    let wrong = 0
    socket.on('error', () => failed('ECONNREFUSED'))
    socket.on('message', (datagram) => {
      // A truncated answer may end inside a record: it is not worth reading.
      const truncated = isOurs(datagram, id) && (datagram[2]! & 0x02) !== 0
      const reply = truncated ? null : read(datagram, id, question)
      if (reply !== null) done(reply)
      else if (truncated || ++wrong >= MAX_WRONG_ANSWERS) done(null)
    })
    // Connected, the system itself drops what comes from elsewhere and tells when nobody listens.
    socket.on('connect', () => socket.send(bytes))
    socket.connect(way.server.port, way.server.address)
    return () => socket.close()
  })
}

function overTcp(question: Question, way: Way): Promise<Reply> {
  const { id, bytes } = message(question, way.edns)
  return attempt<Reply>(question, way, (done, failed) => {
    const socket = connect(way.server.port, way.server.address)
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
