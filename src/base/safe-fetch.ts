// HTTPS requests to foreign URLs, protected against SSRF: checks the resolved address, limits time and size, follows no redirects.

import { isIP, type LookupFunction } from 'node:net'
import type { Agent, Dispatcher } from 'undici'
import { isLocalError } from './local-errors.ts'
import type { Log } from './log.ts'
import { isPublicAddress } from './public-address.ts'
import { ALIAS_LOOP, type Resolver } from './resolver.ts'

/** Total timeout, from the DNS lookup to the last byte read (docs/design/events.md §3). ms. */
export const TOTAL_MS = 10_000
export const CONNECT_MS = 3_000
/** Bytes of a response that are kept. */
export const ANSWER_MAX = 4096
const KEEP_ALIVE_MS = 4_000
const ERROR_TEXT_MAX = 200
/** Parsed URLs kept in memory. */
const PARSED_MAX = 500

/** docs/design/events.md §5: why there was no usable response. */
export type PostProblem =
  | 'timeout'
  | 'dns_error'
  | 'connect_error'
  | 'tls_error'
  | 'connection_reset'
  | 'response_too_slow'
  | 'address_not_allowed'
  /** A fault of this program or machine, which the log describes: nothing was sent. */
  | 'internal_error'

export interface PostResult {
  /** 0 when there was no response. */
  status: number
  /** At most {@link ANSWER_MAX} bytes, or what `get` was given, as UTF-8, invalid bytes replaced; null without a response. */
  body: string | null
  retryAfter: string | null
  /** True for a status of success (2xx). */
  accepted: boolean
  /** True for a status with which Retry-After is honoured (429, 503). */
  mayAskToWait: boolean
  problem: PostProblem | null
  /** The error, one sentence; null when there was none. */
  text: string | null
}

/** A response with its header, names in lower case; empty without a response. */
export interface FetchResult extends PostResult {
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The bytes of the body where they were asked for instead of the text; else null. */
  bytes: Buffer | null
}

export interface SafeFetchOptions {
  resolver: Resolver
  log: Pick<Log, 'error'>
  /** Allows private addresses, of all hosts or of some; for tests and closed networks. */
  allowPrivate: boolean | ((host: string) => boolean)
  /** Allows URLs that name this machine itself, in a trial. */
  allowLoopback?: boolean
  /** ms in all; {@link TOTAL_MS} unless given. */
  totalMs?: number
}

/** A URL as undici takes it. */
interface Target {
  origin: string
  path: string
  hostname: string
  isAddress: boolean
}

/** Requests to foreign https URLs. Connections stay open a few seconds for the next request to the same host. */
export class SafeFetch {
  readonly #options: SafeFetchOptions
  readonly #totalMs: number
  #opening: Promise<Agent> | undefined
  /** URLs as undici takes them. */
  readonly #parsed = new Map<string, Target>()

  constructor(options: SafeFetchOptions) {
    this.#options = options
    this.#totalMs = options.totalMs ?? TOTAL_MS
  }

  /** Whether URLs may name this machine itself. */
  get allowsLoopback(): boolean {
    return this.#options.allowLoopback === true
  }

  /** The allowed addresses of a host. @throws Blocked, or the error of the resolver */
  async addressesOf(host: string): Promise<string[]> {
    const literal = host.replace(/^\[|\]$/g, '')
    // What the name means on this machine is not asked from a name server.
    if (this.allowsLoopback && isLoopbackHost(host)) {
      return literal === 'localhost' ? ['127.0.0.1', '::1'] : [literal]
    }
    const found = isIP(literal) ? [literal] : await this.#resolve(host)
    const { allowPrivate } = this.#options
    const mayBePrivate = typeof allowPrivate === 'boolean' ? allowPrivate : allowPrivate(host)
    const allowed = mayBePrivate ? found : found.filter(isPublicAddress)
    if (allowed.length === 0) throw new Blocked()
    return allowed
  }

  /** Posts `body`. Never throws because of the remote side. */
  post(url: string, headers: Record<string, string>, body: Uint8Array | string): Promise<PostResult> {
    return this.request(url, { method: 'POST', headers, body }, ANSWER_MAX)
  }

  /** @param most bytes of the response that are kept. Never throws because of the remote side. */
  get(url: string, headers: Record<string, string>, most: number): Promise<PostResult> {
    return this.request(url, { method: 'GET', headers }, most)
  }

  /**
   * Any request, for protocols that read the header of the response. Never throws because of the remote side.
   * @param most as in `get`
   * @param form of the body in the result
   */
  async request(
    url: string,
    asked: Pick<Dispatcher.DispatchOptions, 'method' | 'headers' | 'body'>,
    most: number,
    form: 'text' | 'bytes' = 'text',
  ): Promise<FetchResult> {
    const totalMs = this.#totalMs
    const reading = new AnswerReader(totalMs, most, form)
    let timer: NodeJS.Timeout | undefined
    try {
      const agent = await this.#agent()
      const { origin, path, hostname, isAddress } = this.#parse(url)
      // Node does not look up what is an address already.
      if (isAddress) await this.addressesOf(hostname)
      // From here on the result is awaited: it must not be rejected before.
      timer = setTimeout(() => reading.expire(), totalMs).unref()
      agent.dispatch({ origin, path, ...asked }, reading)
      return await reading.result
    } catch (error) {
      if (isLocalError(error)) return this.#notSent(url, error)
      return { ...NO_ANSWER, ...explain(error, reading.isLate, totalMs) }
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    await (await this.#opening)?.destroy()
  }

  #notSent(url: string, error: unknown): FetchResult {
    const host = URL.parse(url)?.hostname
    this.#options.log.error({ event: 'fetch.not_sent', err: error, host }, 'A request could not be sent')
    const text = 'The server could not send the request. Its operator finds the cause in the log.'
    return { ...NO_ANSWER, problem: 'internal_error', text }
  }

  /** The next request opens it again after a failure, which may have been a lack of file handles. */
  #agent(): Promise<Agent> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /** undici is loaded with the first request: it takes about 25 MB in each thread. */
  async #open(): Promise<Agent> {
    const { default: undici } = await import('undici')
    return new undici.Agent({
      connect: { timeout: CONNECT_MS, lookup: this.#lookup },
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      pipelining: 1,
      maxHeaderSize: 16 * 1024,
      headersTimeout: this.#totalMs,
      bodyTimeout: this.#totalMs,
    })
  }

  #parse(url: string): Target {
    const known = this.#parsed.get(url)
    if (known !== undefined) return known
    const { origin, hostname, pathname, search } = new URL(url)
    const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0
    const target = { origin, path: pathname + search, hostname, isAddress }
    if (this.#parsed.size >= PARSED_MAX) this.#parsed.clear()
    this.#parsed.set(url, target)
    return target
  }

  async #resolve(host: string): Promise<string[]> {
    const { resolver } = this.#options
    const answers = await Promise.allSettled([resolver.resolve(host, 'A'), resolver.resolve(host, 'AAAA')])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? (answer.value as string[]) : []))
    const failure = answers.find((answer) => answer.status === 'rejected')
    if (found.length === 0 && failure !== undefined) throw failure.reason
    return found
  }

  readonly #lookup: LookupFunction = (host, options, done) => {
    this.addressesOf(host).then(
      (addresses) => {
        const all = addresses.map((address) => ({ address, family: isIP(address) }))
        if (options.all === true) done(null, all)
        else done(null, all[0]!.address, all[0]!.family)
      },
      (error: Error) => done(error, '', 0),
    )
  }
}

/** Whether the host of a URL names this machine itself (RFC 6761 §6.3). */
export function isLoopbackHost(host: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]', '::1'].includes(host)
}

/** The host has no address that may be connected to. */
export class Blocked extends Error {
  constructor() {
    super('The address is not in the public Internet.')
  }
}

/**
 * Reads the beginning of one response as undici parses it; the rest is not read. Without the streams and signals of `request()`, which
 * cost more than the request itself.
 */
class AnswerReader implements Dispatcher.DispatchHandler {
  /** Rejects when there was no response. */
  readonly result: Promise<FetchResult>
  /** True when the time had expired before the response was complete. */
  isLate = false
  readonly #totalMs: number
  readonly #most: number
  readonly #settle: PromiseWithResolvers<FetchResult>
  #controller: Dispatcher.DispatchController | undefined
  #head: Omit<FetchResult, 'body' | 'bytes' | 'problem' | 'text'> | undefined
  readonly #form: 'text' | 'bytes'
  readonly #parts: Buffer[] = []
  #size = 0

  constructor(totalMs: number, most: number, form: 'text' | 'bytes') {
    this.#totalMs = totalMs
    this.#most = most
    this.#form = form
    this.#settle = Promise.withResolvers()
    this.result = this.#settle.promise
  }

  /** Ends the request, also one that waits for its connection. */
  expire(): void {
    this.isLate = true
    const error = new Error('The request took too long.')
    this.#controller?.abort(error)
    this.onResponseError(undefined, error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.isLate) controller.abort(new Error('The request took too long.'))
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    // Informational responses (RFC 9110 §15.2) precede the response.
    if (status < 200) return
    const retryAfter = headers['retry-after']
    this.#head = {
      status,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      accepted: status < 300,
      mayAskToWait: BUSY.includes(status),
      headers,
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    this.#parts.push(part)
    this.#size += part.length
    if (this.#size < this.#most) return
    this.onResponseEnd()
    controller.abort(new Error('The rest of the response is not read.'))
  }

  onResponseEnd(): void {
    const bytes = Buffer.concat(this.#parts).subarray(0, this.#most)
    const content = this.#form === 'bytes' ? { bytes, body: null } : { bytes: null, body: bytes.toString('utf8') }
    this.#settle.resolve({ ...this.#head!, ...content, problem: null, text: null })
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#head === undefined) {
      this.#settle.reject(error)
      return
    }
    const text = `The answer was not complete within ${this.#totalMs / 1000} seconds.`
    const why = this.isLate ? ({ problem: 'response_too_slow', text } as const) : explain(error, false, this.#totalMs)
    this.#settle.resolve({ ...this.#head, body: null, bytes: null, ...why })
  }
}

/** Statuses with which Retry-After is honoured (docs/design/events.md §5). */
const BUSY = [429, 503]
const NO_ANSWER = {
  status: 0,
  body: null,
  bytes: null,
  retryAfter: null,
  accepted: false,
  mayAskToWait: false,
  headers: {},
}
const RESET = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const DNS = new Set([
  ...['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ETIMEOUT', 'EBADNAME', 'EFORMERR', 'ENOTIMP'],
  ALIAS_LOOP,
])

function explain(error: unknown, timedOut: boolean, totalMs: number): { problem: PostProblem; text: string } {
  const code = (error as { code?: string }).code ?? ''
  const message = (error instanceof Error ? error.message : String(error)).replace(/[^\x20-\x7e]+/g, ' ')
  const text = message.slice(0, ERROR_TEXT_MAX)
  if (error instanceof Blocked) return { problem: 'address_not_allowed', text }
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return { problem: 'connect_error', text: 'The host did not accept the connection in time.' }
  if (timedOut) return { problem: 'timeout', text: `No answer within ${totalMs / 1000} seconds.` }
  if (DNS.has(code)) return { problem: 'dns_error', text: `The name of the host could not be resolved (${code}).` }
  if (RESET.has(code)) return { problem: 'connection_reset', text }
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER|EPROTO/.test(code)) return { problem: 'tls_error', text }
  return code.startsWith('UND_ERR_') ? { problem: 'connection_reset', text } : { problem: 'connect_error', text }
}
