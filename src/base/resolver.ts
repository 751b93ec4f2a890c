// The DNS client of the house: answers as node:dns gives them, from the servers of the settings, kept as long as they may be.

import { getServers } from 'node:dns'
import { isIP } from 'node:net'
import type { Answer, Question, RecordType as WireType } from 'dns-packet'
import { authoritiesOf } from './authority.ts'
import type { Clock } from './clock.ts'
import { dnsError, exchange, type NameServer, type Reply } from './dns-exchange.ts'

export interface Resolver {
  /**
   * The records of a name, in the forms and with the error codes (ENOTFOUND, ENODATA, ESERVFAIL, ETIMEOUT…) of
   * node:dns/promises resolve(), so that it can stand in its place.
   */
  resolve(name: string, type: string): Promise<unknown[]>
  /**
   * The same without any answer kept from before: the zone's own name servers are asked, or the usual ones where these
   * cannot be reached. For checks a person waits for.
   */
  fresh(name: string, type: string): Promise<unknown[]>
  /** Calls off what is under way; nothing is open afterwards. */
  close(): Promise<void>
}

export interface ResolverOptions {
  /** `ip`, `ip:port` or `[ipv6]:port`; empty: the servers of the system. */
  servers: string[]
  clock: Clock
  /** How long one server is waited for, in ms. */
  timeoutMs?: number
  /** Who speaks for a name; by its NS records unless given. */
  authorities?: typeof authoritiesOf
}

const TIMEOUT_MS = 1500
const MAX_SERVERS = 3
/** Rounds over the servers before a silent network is given up. */
const ROUNDS = 2
/** Name servers of a zone that are tried before the usual ones are asked. */
const MAX_AUTHORITIES = 2
const MAX_CNAMES = 8
// Seconds.
const MAX_TTL = 3600
const MAX_NEGATIVE_TTL = 300
// Together they bound the memory of the cache to 8 MiB of messages.
const MAX_ENTRIES = 2000
const MAX_ENTRY_BYTES = 4096

/** RFC 1035 3.1 lengths; printable characters only, as macros of SPF may ask for more than letters and digits. */
const NAME = /^(?=.{1,253}$)[\x20-\x2d\x2f-\x7e]{1,63}(?:\.[\x20-\x2d\x2f-\x7e]{1,63})*$/

const CODE_OF = new Map([
  ['NXDOMAIN', 'ENOTFOUND'],
  ['SERVFAIL', 'ESERVFAIL'],
  ['REFUSED', 'EREFUSED'],
  ['NOTIMP', 'ENOTIMP'],
  ['FORMERR', 'EFORMERR'],
])

/** How each type is shown, as node:dns does. */
const FORMS = new Map<string, (data: never) => unknown>([
  ['A', (data: string) => data],
  ['AAAA', (data: string) => data],
  ['CNAME', (data: string) => data],
  ['NS', (data: string) => data],
  ['PTR', (data: string) => data],
  ['MX', (data: { preference: number; exchange: string }) => ({ priority: data.preference, exchange: hostOf(data) })],
  // One character a byte, as node:dns has it: what is no ASCII stays recognisable.
  ['TXT', (data: Buffer[]) => data.map((part) => part.toString('latin1'))],
  [
    'TLSA',
    (data: { usage: number; selector: number; matchingType: number; certificate: Buffer }) => ({
      certUsage: data.usage,
      selector: data.selector,
      match: data.matchingType,
      data: new Uint8Array(data.certificate),
    }),
  ],
])

/** The null MX of RFC 7505 is "" in node:dns. */
function hostOf(data: { exchange: string }): string {
  return data.exchange === '.' ? '' : data.exchange
}

/** What a question came to: records, or the code of an error. `ttl` in seconds. */
type Outcome = { values: unknown[]; ttl: number; bytes: number } | { code: string; ttl: number; bytes: number }

export function openResolver(options: ResolverOptions): Resolver {
  return new CachingResolver(options)
}

class CachingResolver implements Resolver {
  readonly #servers: NameServer[]
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #authorities: typeof authoritiesOf
  /** Insertion order is the order of use: the first is the one unused for longest. */
  readonly #kept = new Map<string, { outcome: Outcome; until: number }>()
  readonly #asking = new Map<string, Promise<Outcome>>()
  readonly #underWay = new Set<() => void>()
  #closed = false

  constructor(options: ResolverOptions) {
    const servers = options.servers.length > 0 ? options.servers : getServers()
    this.#servers = servers.slice(0, MAX_SERVERS).map(parseServer)
    this.#clock = options.clock
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS
    this.#authorities = options.authorities ?? authoritiesOf
  }

  async resolve(name: string, type: string): Promise<unknown[]> {
    const question = checked(name, type)
    const key = `${type} ${question.name.toLowerCase()}`
    const kept = this.#recall(key)
    if (kept !== undefined) return present(kept, question)
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      asking = this.#ask(question)
        .then((outcome) => this.#keep(key, outcome))
        .finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    return present(await asking, question)
  }

  async fresh(name: string, type: string): Promise<unknown[]> {
    const question = checked(name, type)
    return present((await this.#askAuthority(question)) ?? (await this.#ask(question)), question)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const cancel of [...this.#underWay]) cancel()
    this.#kept.clear()
  }

  #recall(key: string): Outcome | undefined {
    const entry = this.#kept.get(key)
    if (entry === undefined) return undefined
    this.#kept.delete(key)
    if (entry.until <= this.#clock.now()) return undefined
    this.#kept.set(key, entry)
    return entry.outcome
  }

  #keep(key: string, outcome: Outcome): Outcome {
    if (outcome.ttl > 0 && outcome.bytes <= MAX_ENTRY_BYTES) {
      this.#kept.set(key, { outcome, until: this.#clock.now() + outcome.ttl * 1000 })
      if (this.#kept.size > MAX_ENTRIES) this.#kept.delete(this.#kept.keys().next().value!)
    }
    return outcome
  }

  /** Follows aliases that end outside an answer; a recursive server seldom leaves one. */
  async #ask(question: Question): Promise<Outcome> {
    let name = question.name
    let ttl = MAX_TTL
    for (let hops = 0; hops <= MAX_CNAMES; ) {
      const reply = await this.#exchange({ type: question.type, name })
      const found = readReply(reply, question.type, name)
      ttl = Math.min(ttl, found.outcome.ttl)
      if (found.alias === null) return { ...found.outcome, ttl }
      hops += found.hops
      name = found.alias
    }
    return { code: 'ESERVFAIL', ttl: 0, bytes: 0 }
  }

  /** What the zone's own servers say; null when they say nothing, or name another name. */
  async #askAuthority(question: Question): Promise<Outcome | null> {
    const servers = await this.#authorities(question.name, (name, type) => this.resolve(name, type))
    for (const server of servers.slice(0, MAX_AUTHORITIES)) {
      const reply = await this.#askServer(question, server).catch(() => null)
      if (!reply?.packet.flag_aa || !isAnswer(reply)) continue
      const { outcome, alias } = readReply(reply, question.type, question.name)
      return alias === null ? outcome : null
    }
    return null
  }

  /** Asks the servers in turn until one has something to say; a refusal is taken when nobody says more. */
  async #exchange(question: Question): Promise<Reply> {
    let refusal: Reply | null = null
    let failure: unknown = dnsError('ECONNREFUSED', question)
    const unable = new Set<NameServer>()
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of this.#servers) {
        if (unable.has(server)) continue
        if (this.#closed) throw dnsError('ECANCELLED', question)
        try {
          const reply = await this.#askServer(question, server)
          if (isAnswer(reply)) return reply
          unable.add(server)
          refusal ??= reply
        } catch (error) {
          failure = error
        }
      }
    }
    if (refusal !== null) return refusal
    throw failure
  }

  async #askServer(question: Question, server: NameServer): Promise<Reply> {
    const way = { server, clock: this.#clock, timeoutMs: this.#timeoutMs, underWay: this.#underWay }
    const reply = await exchange(question, { ...way, edns: true })
    // A server from before EDNS(0) does not understand the question: RFC 6891 7.
    return reply.rcode === 'FORMERR' ? exchange(question, { ...way, edns: false }) : reply
  }
}

function checked(name: string, type: string): Question {
  const question = { name: name.replace(/\.$/, ''), type: type as WireType }
  if (!FORMS.has(type)) throw dnsError('EBADQUERY', question)
  if (!NAME.test(question.name)) throw dnsError('EBADNAME', question)
  return question
}

function isAnswer(reply: Reply): boolean {
  return reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN'
}

/** A copy for each caller: some sort the list or write on the error. */
function present(outcome: Outcome, question: Question): unknown[] {
  if ('code' in outcome) throw dnsError(outcome.code, question)
  return outcome.values.map((value) => {
    if (Array.isArray(value)) return [...value]
    return typeof value === 'object' ? { ...value } : value
  })
}

interface Found {
  outcome: Outcome
  /** The name to go on with when the answer ends in an alias without records. */
  alias: string | null
  hops: number
}

function readReply(reply: Reply, type: string, name: string): Found {
  const bytes = reply.bytes
  let owner = name.toLowerCase()
  let ttl = MAX_TTL
  let alias: string | null = null
  let hops = 0
  const answers = (reply.packet.answers ?? []) as (Answer & { ttl: number; data: never })[]
  for (; hops <= MAX_CNAMES; hops++) {
    const own = answers.filter((answer) => answer.name.toLowerCase() === owner)
    const records = own.filter((answer) => answer.type === type)
    if (records.length > 0) {
      const form = FORMS.get(type)!
      for (const record of records) ttl = Math.min(ttl, record.ttl)
      return { outcome: { values: records.map((record) => form(record.data)), ttl, bytes }, alias: null, hops }
    }
    const next = own.find((answer) => answer.type === 'CNAME')
    if (next === undefined) break
    alias = String(next.data)
    owner = alias.toLowerCase()
    ttl = Math.min(ttl, next.ttl)
  }
  if (hops > MAX_CNAMES) return { outcome: { code: 'ESERVFAIL', ttl: 0, bytes }, alias: null, hops }
  const code = reply.rcode === 'NOERROR' ? 'ENODATA' : (CODE_OF.get(reply.rcode) ?? 'ESERVFAIL')
  const negative = { code, ttl: Math.min(ttl, negativeTtl(reply, code)), bytes }
  // An SOA says that the end of the chain is known to have no such records; without it the question goes on from there.
  const ended = code !== 'ENODATA' || soaOf(reply) !== undefined
  return { outcome: negative, alias: ended ? null : alias, hops }
}

function soaOf(reply: Reply): { ttl?: number; data: { minimum?: number } } | undefined {
  return reply.packet.authorities?.find((record) => record.type === 'SOA')
}

/** RFC 2308 5: as long as the SOA in the answer allows, not at all without one. */
function negativeTtl(reply: Reply, code: string): number {
  const soa = code === 'ENOTFOUND' || code === 'ENODATA' ? soaOf(reply) : undefined
  return soa === undefined ? 0 : Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0, MAX_NEGATIVE_TTL)
}

function parseServer(text: string): NameServer {
  if (isIP(text) !== 0) return { address: text, port: 53 }
  const parts = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text)
  const address = parts?.[1] ?? parts?.[2] ?? ''
  if (isIP(address) === 0) throw new TypeError(`${text} is no name server: an ip or ip:port is expected`)
  return { address, port: Number(parts?.[3] ?? 53) }
}
