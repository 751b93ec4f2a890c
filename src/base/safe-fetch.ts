// HTTPS requests to foreign URLs, protected against SSRF: checks the resolved address, limits time and size, follows no redirects.

import { isIP, type LookupFunction } from 'node:net'
import type { Agent, request } from 'undici'
import { isPublicAddress } from './public-address.ts'
import type { Resolver } from './resolver.ts'

/** Total timeout, from the DNS lookup to the last byte read (decisions §9.3). ms. */
export const TOTAL_MS = 10_000
export const CONNECT_MS = 3_000
/** Bytes of a response that are kept. */
export const ANSWER_MAX = 4096
const KEEP_ALIVE_MS = 4_000
const ERROR_TEXT_MAX = 200

/** Decisions §9.5: why there was no usable response. */
export type PostProblem =
  | 'timeout'
  | 'dns_error'
  | 'connect_error'
  | 'tls_error'
  | 'connection_reset'
  | 'response_too_slow'
  | 'address_not_allowed'

export interface PostResult {
  /** 0 when there was no response. */
  status: number
  /** At most {@link ANSWER_MAX} bytes as UTF-8, invalid bytes replaced; null without a response. */
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

export interface SafeFetchOptions {
  resolver: Resolver
  /** Allows private addresses; for tests and closed networks. */
  allowPrivate: boolean
  /** ms in all; {@link TOTAL_MS} unless given. */
  totalMs?: number
}

/** Posts to foreign https URLs. Connections stay open a few seconds for the next request to the same host. */
export class SafeFetch {
  readonly #options: SafeFetchOptions
  readonly #totalMs: number
  #opening: Promise<{ agent: Agent; request: typeof request }> | undefined

  constructor(options: SafeFetchOptions) {
    this.#options = options
    this.#totalMs = options.totalMs ?? TOTAL_MS
  }

  /** The allowed addresses of a host. @throws Blocked, or the error of the resolver */
  async addressesOf(host: string): Promise<string[]> {
    const literal = host.replace(/^\[|\]$/g, '')
    const found = isIP(literal) ? [literal] : await this.#resolve(host)
    const allowed = this.#options.allowPrivate ? found : found.filter(isPublicAddress)
    if (allowed.length === 0) throw new Blocked()
    return allowed
  }

  /** Posts `body`. Never throws because of the remote side. */
  async post(url: string, headers: Record<string, string>, body: Uint8Array | string): Promise<PostResult> {
    const timeout = AbortSignal.timeout(this.#totalMs)
    try {
      this.#opening ??= this.#open()
      const { agent, request: ask } = await this.#opening
      const { hostname } = new URL(url)
      // Node does not look up what is an address already.
      if (isIP(hostname.replace(/^\[|\]$/g, ''))) await this.addressesOf(hostname)
      const answer = await ask(url, {
        method: 'POST',
        headers,
        body,
        dispatcher: agent,
        signal: timeout,
        headersTimeout: this.#totalMs,
        bodyTimeout: this.#totalMs,
      })
      const retryAfter = answer.headers['retry-after']
      const head = {
        status: answer.statusCode,
        retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
        accepted: answer.statusCode >= 200 && answer.statusCode < 300,
        mayAskToWait: BUSY.includes(answer.statusCode),
      }
      try {
        return { ...head, body: await readStart(answer.body), problem: null, text: null }
      } catch (error) {
        if (!timeout.aborted) return { ...head, body: null, ...explain(error, false, this.#totalMs) }
        const text = `The answer was not complete within ${this.#totalMs / 1000} seconds.`
        return { ...head, body: null, problem: 'response_too_slow', text }
      }
    } catch (error) {
      return { ...NO_ANSWER, ...explain(error, timeout.aborted, this.#totalMs) }
    }
  }

  async close(): Promise<void> {
    await (await this.#opening)?.agent.destroy()
  }

  /** undici is loaded with the first request: it takes about 25 MB in each thread. */
  async #open() {
    const { Agent, request } = await import('undici')
    const agent = new Agent({
      connect: { timeout: CONNECT_MS, lookup: this.#lookup },
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      pipelining: 1,
      maxHeaderSize: 16 * 1024,
    })
    return { agent, request }
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

/** The host has no address that may be connected to. */
export class Blocked extends Error {
  constructor() {
    super('The address is not in the public Internet.')
  }
}

/** Reads the beginning of the response; discards the rest. */
async function readStart(body: AsyncIterable<Uint8Array> & { destroy(): void }): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body) {
    parts.push(part)
    size += part.length
    if (size >= ANSWER_MAX) break
  }
  return Buffer.concat(parts).subarray(0, ANSWER_MAX).toString('utf8')
}

/** Statuses with which Retry-After is honoured (decisions §9.5). */
const BUSY = [429, 503]
const NO_ANSWER = { status: 0, body: null, retryAfter: null, accepted: false, mayAskToWait: false }
const RESET = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const DNS = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'ETIMEOUT', 'EBADNAME', 'EFORMERR', 'ENOTIMP'])

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
