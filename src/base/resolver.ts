// The DNS resolver: answers in the form of node:dns, from the configured servers, cached for their TTL.

import { getServers } from 'node:dns'
import { isIP } from 'node:net'
import type { Answer, Question, RecordType as WireType } from 'dns-packet'
import { authoritiesOf } from './authority.ts'
import type { Clock } from './clock.ts'
import { type DnsReply, dnsError, exchange, type NameServer } from './dns-exchange.ts'
import { RECORD_FORMS } from './record-forms.ts'

/** A name server that was asked, and how it answered. */
export interface AskedServer {
  /** An authoritative server; null for the configured ones, which are a matter of the operator. */
  server: string | null
  /** Time until the answer, or until it was given up. */
  ms: number
  /** Null for an answer, also for one that there is no such record; else a code of node:dns, or ENOTAUTH for a server that does not know the zone. */
  error: string | null
}

/** The code of a name whose aliases (CNAME) form a loop, or are more than any server follows; node:dns has none. */
export const ALIAS_LOOP = 'ECNAMELOOP'

export interface Resolver {
  /**
   * The records of a name, in the forms and with the error codes (ENOTFOUND, ENODATA, ESERVFAIL, ETIMEOUT…) of
   * node:dns/promises resolve(), so that it can replace it; ALIAS_LOOP besides.
   */
  resolve(name: string, type: string): Promise<unknown[]>
  /**
   * What `resolve` would answer at once, from the cache: the records, which must not be modified, or the code of its error; undefined
   * when it would have to ask. Absent where nothing is cached.
   */
  cached?(name: string, type: string): CachedAnswer | undefined
  /**
   * The same without the cache: asks the authoritative name servers of the zone, or the configured ones when these
   * cannot be reached. For checks that a person waits for.
   * @param note receives every server that was asked, in order
   */
  fresh(name: string, type: string, note?: (asked: AskedServer) => void): Promise<unknown[]>
  /**
   * The same with what the servers say of its authenticity (RFC 4035 §3.2.3). Only where they are trusted to validate: see
   * {@link ResolverOptions.isTrusted}. Never throws.
   */
  authenticated?(name: string, type: string): Promise<AuthenticatedAnswer>
  /** Cancels all pending queries and closes their sockets. */
  close(): Promise<void>
}

/** An answer of a validating server. */
export interface AuthenticatedAnswer {
  records: readonly unknown[]
  /** Null with records, else a code of `resolve`. */
  code: string | null
  /** The server has validated all of it by DNSSEC, aliases included; also that there is nothing. */
  isAuthentic: boolean
  /** The name the aliases (CNAME) lead to, lower case; the name itself without any. */
  name: string
}

export type CachedAnswer = { records: readonly unknown[] } | { code: string }

export interface ResolverOptions {
  /** `ip`, `ip:port` or `[ipv6]:port`; empty: the servers of the system. */
  servers: string[]
  clock: Clock
  /** Timeout of one query to one server, ms. */
  timeoutMs?: number
  /** Finds the authoritative servers of a name; by its NS records unless given. */
  authorities?: typeof authoritiesOf
  /** The servers validate, and the way to them cannot be tampered with: their AD bit is believed. */
  isTrusted?: boolean
}

const TIMEOUT_MS = 1500
const MAX_SERVERS = 3
/** Rounds over all servers before the query fails. */
const ROUNDS = 2
/** Authoritative servers tried before the configured ones. */
const MAX_AUTHORITIES = 2
const MAX_CNAMES = 8
// Seconds.
const MAX_TTL = 3600
const MAX_NEGATIVE_TTL = 300
// Together they limit the cache to 8 MiB of messages.
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

/** The outcome of a query: records, or the code of an error. `ttl` in seconds. */
type Outcome = ({ values: unknown[] } | { code: string }) & {
  ttl: number
  bytes: number
  /** AD (RFC 4035 §3.2.3) in all replies. */
  isAuthentic: boolean
  /** The last name of the aliases, lower case. */
  name: string
}

export function openResolver(options: ResolverOptions): Resolver {
  return new CachingResolver(options)
}

class CachingResolver implements Resolver {
  readonly #servers: NameServer[]
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #authorities: typeof authoritiesOf
  readonly #isTrusted: boolean
  /** Insertion order is the order of use: the first entry is the least recently used. */
  readonly #cache = new Map<string, { outcome: Outcome; until: number }>()
  readonly #asking = new Map<string, Promise<Outcome>>()
  readonly #pendingCancels = new Set<() => void>()
  #closed = false

  constructor(options: ResolverOptions) {
    const servers = options.servers.length > 0 ? options.servers : getServers()
    this.#servers = servers.slice(0, MAX_SERVERS).map(parseServer)
    this.#clock = options.clock
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS
    this.#authorities = options.authorities ?? authoritiesOf
    this.#isTrusted = options.isTrusted === true
    if (this.#isTrusted) this.authenticated = (name, type) => this.#authenticated(name, type)
  }

  authenticated?: (name: string, type: string) => Promise<AuthenticatedAnswer>

  async resolve(name: string, type: string): Promise<unknown[]> {
    const question = checked(name, type)
    return present(await this.#outcomeOf(question), question)
  }

  async #authenticated(name: string, type: string): Promise<AuthenticatedAnswer> {
    const own = { records: [], isAuthentic: false, name: name.toLowerCase() }
    try {
      const outcome = await this.#outcomeOf(checked(name, type))
      const { isAuthentic } = outcome
      if ('code' in outcome) return { records: [], code: outcome.code, isAuthentic, name: outcome.name }
      return { records: outcome.values, code: null, isAuthentic, name: outcome.name }
    } catch (error) {
      return { ...own, code: (error as { code?: string }).code ?? 'ESERVFAIL' }
    }
  }

  async #outcomeOf(question: Question): Promise<Outcome> {
    const { type } = question
    const key = `${type} ${question.name.toLowerCase()}`
    const cached = this.#recall(key)
    if (cached !== undefined) return cached
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      asking = this.#ask(question)
        .then((outcome) => this.#store(key, outcome))
        .finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    return asking
  }

  cached(name: string, type: string): CachedAnswer | undefined {
    const outcome = this.#recall(`${type} ${name.replace(/\.$/, '').toLowerCase()}`)
    if (outcome === undefined) return undefined
    return 'code' in outcome ? { code: outcome.code } : { records: outcome.values }
  }

  async fresh(name: string, type: string, note: (asked: AskedServer) => void = () => {}): Promise<unknown[]> {
    const question = checked(name, type)
    return present((await this.#askAuthority(question, note)) ?? (await this.#ask(question, note)), question)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const cancel of [...this.#pendingCancels]) cancel()
    this.#cache.clear()
  }

  #recall(key: string): Outcome | undefined {
    const entry = this.#cache.get(key)
    if (entry === undefined) return undefined
    this.#cache.delete(key)
    if (entry.until <= this.#clock.now()) return undefined
    this.#cache.set(key, entry)
    return entry.outcome
  }

  #store(key: string, outcome: Outcome): Outcome {
    if (outcome.ttl > 0 && outcome.bytes <= MAX_ENTRY_BYTES) {
      this.#cache.set(key, { outcome, until: this.#clock.now() + outcome.ttl * 1000 })
      if (this.#cache.size > MAX_ENTRIES) this.#cache.delete(this.#cache.keys().next().value!)
    }
    return outcome
  }

  /** Follows CNAMEs whose target is not in the answer; recursive servers seldom return such answers. */
  async #ask(question: Question, note?: (asked: AskedServer) => void): Promise<Outcome> {
    let name = question.name
    let ttl = MAX_TTL
    let isAuthentic = this.#isTrusted
    for (let hops = 0; hops <= MAX_CNAMES; ) {
      const reply = await this.#exchange({ type: question.type, name }, note)
      const found = readReply(reply, question.type, name)
      ttl = Math.min(ttl, found.outcome.ttl)
      isAuthentic &&= found.outcome.isAuthentic
      if (found.alias === null) return { ...found.outcome, ttl, isAuthentic }
      hops += found.hops
      name = found.alias
    }
    return { code: ALIAS_LOOP, ttl: 0, bytes: 0, isAuthentic: false, name }
  }

  /** The answer of the authoritative servers; null when they do not answer, or answer with a CNAME without its target. */
  async #askAuthority(question: Question, note: (asked: AskedServer) => void): Promise<Outcome | null> {
    const servers = await this.#authorities(question.name, (name, type) => this.resolve(name, type))
    for (const server of servers.slice(0, MAX_AUTHORITIES)) {
      const reply = await this.#askNoted(question, server, note, true).catch(() => null)
      if (!reply?.packet.flag_aa || !isAnswer(reply)) continue
      const { outcome, alias } = readReply(reply, question.type, question.name)
      return alias === null ? outcome : null
    }
    return null
  }

  /** Asks the servers in turn until one answers; returns an error response only when no server answers. */
  async #exchange(question: Question, note?: (asked: AskedServer) => void): Promise<DnsReply> {
    let refusal: DnsReply | null = null
    let failure: unknown = dnsError('ECONNREFUSED', question)
    const unable = new Set<NameServer>()
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of this.#servers) {
        if (unable.has(server)) continue
        if (this.#closed) throw dnsError('ECANCELLED', question)
        try {
          const reply = await (note === undefined
            ? this.#askServer(question, server)
            : this.#askNoted(question, server, note, false))
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

  async #askNoted(
    question: Question,
    server: NameServer,
    note: (asked: AskedServer) => void,
    isAuthoritative: boolean,
  ): Promise<DnsReply> {
    const start = this.#clock.now()
    const name = isAuthoritative ? (server.name ?? server.address) : null
    const say = (error: string | null) => note({ server: name, ms: Math.max(0, this.#clock.now() - start), error })
    try {
      const reply = await this.#askServer(question, server)
      if (!isAnswer(reply)) say(CODE_OF.get(reply.rcode) ?? 'ESERVFAIL')
      else say(isAuthoritative && !reply.packet.flag_aa ? 'ENOTAUTH' : null)
      return reply
    } catch (error) {
      say((error as { code?: string }).code ?? 'ESERVFAIL')
      throw error
    }
  }

  async #askServer(question: Question, server: NameServer): Promise<DnsReply> {
    const own = { clock: this.#clock, timeoutMs: this.#timeoutMs, pendingCancels: this.#pendingCancels }
    const options = { ...own, server, asksAuthentic: this.#isTrusted }
    const reply = await exchange(question, { ...options, edns: true })
    // A server without EDNS(0) support answers FORMERR: RFC 6891 7.
    return reply.rcode === 'FORMERR' ? exchange(question, { ...options, edns: false }) : reply
  }
}

function checked(name: string, type: string): Question {
  const question = { name: name.replace(/\.$/, ''), type: type as WireType }
  if (!RECORD_FORMS.has(type)) throw dnsError('EBADQUERY', question)
  if (!NAME.test(question.name)) throw dnsError('EBADNAME', question)
  return question
}

function isAnswer(reply: DnsReply): boolean {
  return reply.rcode === 'NOERROR' || reply.rcode === 'NXDOMAIN'
}

/** A copy for each caller: some sort the list or modify the error. */
function present(outcome: Outcome, question: Question): unknown[] {
  if ('code' in outcome) throw dnsError(outcome.code, question)
  return outcome.values.map((value) => {
    if (Array.isArray(value)) return [...value]
    return typeof value === 'object' ? { ...value } : value
  })
}

interface AnswerRecords {
  outcome: Outcome
  /** The name to query next when the answer ends in a CNAME without records of its target. */
  alias: string | null
  hops: number
}

function readReply(reply: DnsReply, type: string, name: string): AnswerRecords {
  const { bytes, packet } = reply
  const isAuthentic = packet.flag_ad
  let owner = name.toLowerCase()
  let ttl = MAX_TTL
  let alias: string | null = null
  let hops = 0
  const answers = (reply.packet.answers ?? []) as (Answer & { ttl: number; data: never })[]
  for (; hops <= MAX_CNAMES; hops++) {
    const own = answers.filter((answer) => answer.name.toLowerCase() === owner)
    const records = own.filter((answer) => answer.type === type)
    if (records.length > 0) {
      const form = RECORD_FORMS.get(type)!
      for (const record of records) ttl = Math.min(ttl, record.ttl)
      const values = records.map((record) => form(record.data))
      return { outcome: { values, ttl, bytes, isAuthentic, name: owner }, alias: null, hops }
    }
    const next = own.find((answer) => answer.type === 'CNAME')
    if (next === undefined) break
    alias = String(next.data)
    owner = alias.toLowerCase()
    ttl = Math.min(ttl, next.ttl)
  }
  if (hops > MAX_CNAMES) {
    return { outcome: { code: ALIAS_LOOP, ttl: 0, bytes, isAuthentic: false, name: owner }, alias: null, hops }
  }
  const code = reply.rcode === 'NOERROR' ? 'ENODATA' : (CODE_OF.get(reply.rcode) ?? 'ESERVFAIL')
  const negative = { code, ttl: Math.min(ttl, negativeTtl(reply, code)), bytes, isAuthentic, name: owner }
  // An SOA confirms that the last name of the chain has no such records; without it that name is queried next.
  const ended = code !== 'ENODATA' || soaOf(reply) !== undefined
  return { outcome: negative, alias: ended ? null : alias, hops }
}

function soaOf(reply: DnsReply): { ttl?: number; data: { minimum?: number } } | undefined {
  return reply.packet.authorities?.find((record) => record.type === 'SOA')
}

/** RFC 2308 5: negative answers are cached for the TTL of the SOA in the answer, and not at all without one. */
function negativeTtl(reply: DnsReply, code: string): number {
  const soa = code === 'ENOTFOUND' || code === 'ENODATA' ? soaOf(reply) : undefined
  return soa === undefined ? 0 : Math.min(soa.ttl ?? 0, soa.data.minimum ?? 0, MAX_NEGATIVE_TTL)
}

/** @param text `ip`, `ip:port` or `[ip]:port` @throws TypeError */
export function parseServer(text: string): NameServer {
  if (isIP(text) !== 0) return { address: text, port: 53 }
  const parts = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text)
  const address = parts?.[1] ?? parts?.[2] ?? ''
  if (isIP(address) === 0) throw new TypeError(`${text} is not a name server: an ip or ip:port is expected`)
  return { address, port: Number(parts?.[3] ?? 53) }
}

/** Whether the aliases of a name form a loop: most recursive servers say SERVFAIL then, as for a server in trouble. */
export async function hasAliasLoop(resolver: Pick<Resolver, 'resolve'>, name: string): Promise<boolean> {
  const seen = new Set<string>()
  let current = name.toLowerCase()
  while (!seen.has(current)) {
    if (seen.size > MAX_CNAMES) return true
    seen.add(current)
    try {
      const [target] = await resolver.resolve(current, 'CNAME')
      current = String(target).toLowerCase().replace(/\.$/, '')
    } catch {
      return false
    }
  }
  return true
}
