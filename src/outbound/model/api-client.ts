// HTTPS client for provider APIs: with timeouts and a size limit, without redirects or proxies.

import type { Agent, request } from 'undici'
import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import { isLocalError } from '../../base/local-errors.ts'

/** Maximum response size in bytes. */
export const ANSWER_MAX = 1_048_576
/** Default timeout of a call, from connecting to the last byte, in ms. */
export const CALL_MS = 15_000
const CONNECT_MS = 5_000
// Microsoft allows four concurrent requests per mailbox; Google and Amazon allow more.
const CONNECTIONS_MAX = 4
const KEEP_ALIVE_MS = 10_000
const TEXT_MAX = 200
const RETRY_AFTER_MAX_MS = DAY_MS

export interface ApiCall {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** ms; {@link CALL_MS} unless given. */
  timeoutMs?: number
  signal?: AbortSignal
}

/** The result of a call. */
export type ApiResult =
  | {
      kind: 'answered'
      status: number
      text: string
      /** The response parsed as JSON; null if it is not JSON. */
      body: unknown
      /** From Retry-After; null if absent or invalid. */
      retryAfterMs: number | null
    }
  /** The request did not reach the server. */
  | { kind: 'unreached'; stage: 'dns' | 'connect' | 'tls'; text: string }
  /** The server may have executed the request, but there is no readable response. */
  | { kind: 'broken'; text: string }

/** Keeps connections alive for a few seconds. Each account has its own client, so that accounts do not block each other. */
export class ApiClient {
  readonly #clock: Clock
  #opening: Promise<{ agent: Agent; request: typeof request }> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Never throws for failures of the server. @throws Error a fault of this program or machine: nothing was sent */
  async call(call: ApiCall): Promise<ApiResult> {
    const timeoutMs = call.timeoutMs ?? CALL_MS
    const timeout = AbortSignal.timeout(timeoutMs)
    const signal = call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal])
    if (signal.aborted) return { kind: 'unreached', stage: 'connect', text: 'The call was aborted.' }
    try {
      this.#opening ??= open()
      const { agent, request: ask } = await this.#opening.catch((error: unknown) => {
        this.#opening = undefined
        throw error
      })
      const answer = await ask(call.url, {
        method: call.method,
        headers: { accept: 'application/json', ...call.headers },
        body: call.body ?? null,
        dispatcher: agent,
        signal,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      })
      const text = await answer.body.text()
      const retryAfterMs = this.#waitOf(answer.headers['retry-after'])
      return { kind: 'answered', status: answer.statusCode, text, body: jsonOf(text), retryAfterMs }
    } catch (error) {
      if (isLocalError(error)) throw error
      return failureOf(error, timeout.aborted ? timeoutMs : null)
    }
  }

  /** Waits for calls in progress. */
  async close(): Promise<void> {
    await (await this.#opening)?.agent.close()
  }

  /** RFC 9110 §10.2.3: seconds, or a date. */
  #waitOf(value: string | string[] | undefined): number | null {
    if (typeof value !== 'string') return null
    const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - this.#clock.now()
    return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS)
  }
}

/** The string at a path in a response body; null if there is none. */
export function textAt(body: unknown, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(body, ...path)
  return typeof found === 'string' ? found : null
}

/** The value at a path in a response body; undefined if there is none. */
export function valueAt(body: unknown, ...path: readonly (string | number)[]): unknown {
  let here = body
  for (const name of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return undefined
    here = (here as Record<string | number, unknown>)[name]
  }
  return here
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const NO_NAME = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT'])
const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])
const NO_TRUST = /CERT|TLS|SSL|SIGNATURE|ISSUER|ALTNAME|EPROTO/
// Node's text for a connection closed during the handshake; the error code alone does not show that.
const NO_HANDSHAKE = /before secure TLS connection was established/

/**
 * Classifies the error of a failed call.
 * @param timedOutMs the timeout if it expired, else null
 */
export function failureOf(error: unknown, timedOutMs: number | null): Exclude<ApiResult, { kind: 'answered' }> {
  const { code, syscall } = causeOf(error)
  const text = shown(error instanceof Error ? error.message : String(error))
  if (NO_NAME.has(code)) return { kind: 'unreached', stage: 'dns', text: `The host has no address now (${code}).` }
  // The same codes on an established connection do not show whether the server read the request.
  if (NO_CONNECTION.has(code) && syscall !== 'read' && syscall !== 'write') {
    return { kind: 'unreached', stage: 'connect', text: `No connection to the host (${code}).` }
  }
  if (NO_TRUST.test(code) || NO_HANDSHAKE.test(text)) return { kind: 'unreached', stage: 'tls', text }
  if (timedOutMs !== null) return { kind: 'broken', text: `No answer within ${timedOutMs / 1000} seconds.` }
  return { kind: 'broken', text }
}

/** The cause of an error; of an aggregate over several addresses, the first one. */
function causeOf(error: unknown): { code: string; syscall: string } {
  const { code, syscall, errors } = (error ?? {}) as { code?: unknown; syscall?: unknown; errors?: unknown[] }
  if (Array.isArray(errors) && errors.length > 0) return causeOf(errors[0])
  return { code: typeof code === 'string' ? code : '', syscall: typeof syscall === 'string' ? syscall : '' }
}

/** Untrusted text as one line of printable ASCII, truncated. */
export function shown(text: string, max = TEXT_MAX): string {
  const line = text.replace(/[^\x21-\x7e]+/g, ' ').trim()
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`
}

/** Loads undici on the first call: threads that make none do not need it. */
async function open() {
  const { default: undici } = await import('undici')
  // A dedicated agent ignores proxy settings of the environment.
  const agent = new undici.Agent({
    connect: { timeout: CONNECT_MS },
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxResponseSize: ANSWER_MAX,
  })
  return { agent, request: undici.request }
}
