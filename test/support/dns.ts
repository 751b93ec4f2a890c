// A zone as a real DNS server on loopback (UDP and TCP), and as a resolver in this process.

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Question, TRUNCATED_RESPONSE } from 'dns-packet'
import { ALIAS_LOOP, type Resolver } from '../../src/base/resolver.ts'

/** The records of one name. */
export interface Names {
  A?: string[]
  AAAA?: string[]
  MX?: { priority: number; exchange: string }[]
  /** Strings above 255 bytes are split; one character is one byte (latin1). */
  TXT?: (string | string[])[]
  PTR?: string[]
  SRV?: { priority: number; weight: number; port: number; target: string }[]
  NS?: string[]
  CAA?: { flags: number; tag: string; value: string }[]
  /** Key tags. */
  DS?: number[]
  /** "3 1 1 0123…" */
  TLSA?: string[]
  CNAME?: string
  /** Seconds; default 0, so that a change of the zone is visible immediately. */
  ttl?: number
  /** The fault of the name; `truncate` for UDP only. An object: for these types only. */
  error?: DnsError | Partial<Record<string, DnsError>>
}

export type DnsError = 'servfail' | 'refused' | 'formerr' | 'silent' | 'truncate'

/** Names in lower case without the trailing dot. */
export type Zone = Record<string, Names>

export interface Query {
  name: string
  type: string
  over: 'udp' | 'tcp'
}

export interface LocalDns extends AsyncDisposable {
  /** `ip:port` for DNS_SERVERS. */
  readonly address: string
  zone: Zone
  readonly queries: Query[]
  /** TTL of negative answers, seconds. */
  negativeTtl: number
  close(): Promise<void>
}

const UDP_LIMIT = 1232
const RCODE = { servfail: 2, refused: 5, formerr: 1, nxdomain: 3 }
const MAX_CHAIN = 10

/** @param fixed where to listen; without it on a free port. @throws what the system says when that is not free */
export async function startDns(zone: Zone, fixed?: { host: string; port: number }): Promise<LocalDns> {
  const { udp, tcp, port } = await listen(fixed)
  const open = new Set<Socket>()
  const dns: LocalDns = {
    address: `${fixed?.host ?? '127.0.0.1'}:${port}`,
    zone,
    queries: [],
    negativeTtl: 0,
    async close() {
      for (const socket of open) socket.destroy()
      await Promise.all([new Promise<void>((done) => udp.close(done)), new Promise((done) => tcp.close(done))])
    },
    [Symbol.asyncDispose]: () => dns.close(),
  }
  udp.on('message', (bytes, peer) => {
    const reply = respond(dns, bytes, 'udp')
    if (reply !== null) udp.send(reply, peer.port, peer.address)
  })
  tcp.on('connection', (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket)).on('error', () => {})
    let waiting = Buffer.alloc(0)
    socket.on('data', (part: Buffer) => {
      waiting = Buffer.concat([waiting, part])
      while (waiting.length >= 2 && waiting.length >= 2 + waiting.readUInt16BE(0)) {
        const end = 2 + waiting.readUInt16BE(0)
        const reply = respond(dns, waiting.subarray(2, end), 'tcp')
        waiting = waiting.subarray(end)
        if (reply === null) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(reply.length)
        socket.write(Buffer.concat([length, reply]))
      }
    })
  })
  return dns
}

/** The same port for both transports: retried when another process has the TCP one. */
async function listen(fixed?: { host: string; port: number }): Promise<{ udp: UdpSocket; tcp: Server; port: number }> {
  const host = fixed?.host ?? '127.0.0.1'
  for (;;) {
    const tcp = createServer()
    tcp.listen(fixed?.port ?? 0, host)
    await once(tcp, 'listening')
    const port = (tcp.address() as { port: number }).port
    const udp = createSocket('udp4')
    try {
      udp.bind(port, host)
      await once(udp, 'listening')
      return { udp, tcp, port }
    } catch (error) {
      tcp.close()
      if (fixed !== undefined) throw error
    }
  }
}

function respond(dns: LocalDns, bytes: Buffer, over: 'udp' | 'tcp'): Buffer | null {
  const query = decode(bytes)
  const question = query.questions![0]!
  dns.queries.push({ name: question.name, type: question.type, over })
  const found = lookUp(dns.zone, question.name, question.type)
  if (found.fault === 'silent') return null
  const reply = (rcode: number, answers: Answer[], flags = 0) =>
    encode({
      type: 'response',
      id: query.id,
      flags: AUTHORITATIVE_ANSWER | flags | rcode,
      questions: [question],
      answers,
      authorities: answers.some((answer) => answer.type === question.type) ? [] : [soa(question, dns.negativeTtl)],
    })
  if (found.fault === 'truncate') {
    if (over === 'udp') return reply(0, [], TRUNCATED_RESPONSE)
  } else if (found.fault !== undefined) return reply(RCODE[found.fault], [])
  const whole = reply(found.exists ? 0 : RCODE.nxdomain, found.answers)
  return over === 'udp' && whole.length > UDP_LIMIT ? reply(0, [], TRUNCATED_RESPONSE) : whole
}

function soa(question: Question, minimum: number): Answer {
  const name = question.name.split('.').slice(-2).join('.')
  return { type: 'SOA', name, ttl: minimum, data: { mname: 'ns.invalid', rname: 'root.invalid', minimum } }
}

interface Found {
  answers: Answer[]
  exists: boolean
  fault?: DnsError
  /** The aliases form a loop. */
  isLoop?: boolean
}

/** The records of the zone, with aliases followed as by a recursive server. */
function lookUp(zone: Zone, asked: string, type: string): Found {
  const answers: Answer[] = []
  let name = asked
  for (let hops = 0; hops <= MAX_CHAIN; hops++) {
    const names = Object.hasOwn(zone, name.toLowerCase()) ? zone[name.toLowerCase()]! : undefined
    const fault = typeof names?.error === 'object' ? names.error[type] : names?.error
    if (names === undefined) {
      const below = `.${name.toLowerCase()}`
      return { answers, exists: Object.keys(zone).some((other) => other.endsWith(below)) }
    }
    if (names.CNAME === undefined || type === 'CNAME') {
      return { answers: [...answers, ...recordsOf(names, name, type)], exists: true, fault }
    }
    answers.push({ type: 'CNAME', name, ttl: names.ttl ?? 0, data: names.CNAME })
    name = names.CNAME
  }
  return { answers, exists: true, isLoop: true }
}

function recordsOf(names: Names, name: string, type: string): Answer[] {
  const base = { name, ttl: names.ttl ?? 0 }
  if (type === 'TXT') {
    return (names.TXT ?? []).map((text) => ({ ...base, type: 'TXT' as const, data: [text].flat().flatMap(strings) }))
  }
  if (type === 'MX') {
    return (names.MX ?? []).map(({ priority, exchange }) => ({
      ...base,
      type: 'MX' as const,
      data: { preference: priority, exchange },
    }))
  }
  if (type === 'SRV') return (names.SRV ?? []).map((data) => ({ ...base, type: 'SRV' as const, data }))
  if (type === 'CAA') return (names.CAA ?? []).map((data) => ({ ...base, type, data: data as never }))
  if (type === 'TLSA') return (names.TLSA ?? []).map((data) => ({ ...base, type, data: tlsaOf(data) as never }))
  if (type === 'DS') return (names.DS ?? []).map((keyTag) => ({ ...base, type, data: signerOf(keyTag) as never }))
  if (type === 'CNAME') return names.CNAME === undefined ? [] : [{ ...base, type, data: names.CNAME }]
  if (type === 'A' || type === 'AAAA' || type === 'PTR' || type === 'NS') {
    return (names[type] ?? []).map((data) => ({ ...base, type, data }))
  }
  return []
}

function signerOf(keyTag: number) {
  return { keyTag, algorithm: 13, digestType: 2, digest: Buffer.alloc(32) }
}

function tlsaOf(text: string) {
  const [usage, selector, matchingType, hex] = text.split(' ')
  const certificate = Buffer.from(hex!, 'hex')
  return { usage: Number(usage), selector: Number(selector), matchingType: Number(matchingType), certificate }
}

function strings(text: string): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  const parts: Buffer[] = []
  for (let start = 0; start === 0 || start < bytes.length; start += 255) parts.push(bytes.subarray(start, start + 255))
  return parts
}

/** A resolver on the zone without network. */
export function zoneResolver(zone: Zone): Resolver & { queries: Query[] } {
  const queries: Query[] = []
  const resolve = async (name: string, type: string): Promise<unknown[]> => {
    queries.push({ name, type, over: 'udp' })
    const failed = (code: string) => Object.assign(new Error(`query ${type} ${name}: ${code}`), { code })
    const found = lookUp(zone, name.replace(/\.$/, ''), type)
    if (found.fault === 'silent') throw failed('ETIMEOUT')
    if (found.fault !== undefined && found.fault !== 'truncate') throw failed(`E${found.fault.toUpperCase()}`)
    if (found.isLoop) throw failed(ALIAS_LOOP)
    const records = found.answers.filter((answer) => answer.type === type) as unknown as { data: never }[]
    if (records.length === 0) throw failed(found.exists ? 'ENODATA' : 'ENOTFOUND')
    return records.map(({ data }) => shown(type, data))
  }
  return { queries, resolve, fresh: resolve, close: async () => {} }
}

function shown(type: string, data: never): unknown {
  if (type === 'TXT') return (data as Buffer[]).map((part) => part.toString('latin1'))
  if (type === 'SRV') {
    const { target, ...service } = data as { target: string }
    return { ...service, name: target === '.' ? '' : target }
  }
  if (type === 'CAA') {
    const { flags, ...property } = data as { flags: number; tag: string; value: string }
    return { critical: flags, ...property }
  }
  if (type === 'TLSA') {
    const { usage, selector, matchingType, certificate } = data as unknown as ReturnType<typeof tlsaOf>
    return { certUsage: usage, selector, match: matchingType, data: new Uint8Array(certificate) }
  }
  if (type !== 'MX') return data
  const { preference, exchange } = data as { preference: number; exchange: string }
  return { priority: preference, exchange: exchange === '.' ? '' : exchange }
}
