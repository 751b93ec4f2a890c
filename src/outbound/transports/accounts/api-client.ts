// Calls the HTTPS interfaces of providers: bounded in time and size, never redirected, through no proxy.

import type { Agent, request } from 'undici'
import type { Clock } from '../../../base/clock.ts'

/** Longest answer that is read. Bytes. */
export const ANSWER_MAX = 1_048_576
/** One call that carries no mail, from the connection to the last byte. ms. */
export const CALL_MS = 15_000
const CONNECT_MS = 5_000
// A mailbox at Microsoft takes four requests at once; Google and Amazon take more.
const CONNECTIONS_MAX = 4
const KEEP_ALIVE_MS = 10_000
const TEXT_MAX = 200
const RETRY_AFTER_MAX_MS = 86_400_000

export interface ApiCall {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** ms; {@link CALL_MS} unless given. */
  timeoutMs?: number
  signal?: AbortSignal
}

/** What came of a call. */
export type ApiResult =
  | {
      kind: 'answered'
      status: number
      text: string
      /** The same as JSON; null when it is none. */
      body: unknown
      /** What the other side asks to be waited, null when it does not. */
      retryAfterMs: number | null
    }
  /** Nobody has read the request. */
  | { kind: 'unreached'; stage: 'dns' | 'connect' | 'tls'; text: string }
  /** The request may have been read and done: no answer came that can be read. */
  | { kind: 'broken'; text: string }

/** Keeps connections open for a few seconds. One for each account, so that none waits for another. */
export class ApiClient {
  readonly #clock: Clock
  #opening: Promise<{ agent: Agent; request: typeof request }> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Never throws for what the other side does. */
  async call(call: ApiCall): Promise<ApiResult> {
    const timeoutMs = call.timeoutMs ?? CALL_MS
    const patience = AbortSignal.timeout(timeoutMs)
    const signal = call.signal === undefined ? patience : AbortSignal.any([patience, call.signal])
    if (signal.aborted) return { kind: 'unreached', stage: 'connect', text: 'The call was given up.' }
    try {
      this.#opening ??= open()
      const { agent, request: ask } = await this.#opening
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
      return failureOf(error, patience.aborted ? timeoutMs : null)
    }
  }

  /** Waits for calls under way. */
  async close(): Promise<void> {
    await (await this.#opening)?.agent.close()
  }

  /** RFC 9110 10.2.3: seconds, or a date. */
  #waitOf(value: string | string[] | undefined): number | null {
    if (typeof value !== 'string') return null
    const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - this.#clock.now()
    return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS)
  }
}

/** A text inside an answer, found by the names that lead to it; null where there is none. */
export function textAt(body: unknown, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(body, ...path)
  return typeof found === 'string' ? found : null
}

/** Whatever lies inside an answer; undefined where nothing does. */
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
// Node's words for a connection that ended inside the handshake; its code is that of any other.
const NO_HANDSHAKE = /before secure TLS connection was established/

/**
 * What a call that threw means.
 * @param timedOutMs how long was waited, when it ended for that
 */
export function failureOf(error: unknown, timedOutMs: number | null): Exclude<ApiResult, { kind: 'answered' }> {
  const { code, syscall } = causeOf(error)
  const text = shown(error instanceof Error ? error.message : String(error))
  if (NO_NAME.has(code)) return { kind: 'unreached', stage: 'dns', text: `The host has no address now (${code}).` }
  // The same words on a connection that was in use say nothing of what was read over it.
  if (NO_CONNECTION.has(code) && syscall !== 'read' && syscall !== 'write') {
    return { kind: 'unreached', stage: 'connect', text: `No connection to the host (${code}).` }
  }
  if (NO_TRUST.test(code) || NO_HANDSHAKE.test(text)) return { kind: 'unreached', stage: 'tls', text }
  if (timedOutMs !== null) return { kind: 'broken', text: `No answer within ${timedOutMs / 1000} seconds.` }
  return { kind: 'broken', text }
}

/** Of several addresses that were tried, the first tells. */
function causeOf(error: unknown): { code: string; syscall: string } {
  const { code, syscall, errors } = (error ?? {}) as { code?: unknown; syscall?: unknown; errors?: unknown[] }
  if (Array.isArray(errors) && errors.length > 0) return causeOf(errors[0])
  return { code: typeof code === 'string' ? code : '', syscall: typeof syscall === 'string' ? syscall : '' }
}

/** Foreign words on one line, cut to what a log line can bear. */
export function shown(text: string, max = TEXT_MAX): string {
  const line = text.replace(/[^\x21-\x7e]+/g, ' ').trim()
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`
}

/** Read with the first call: a thread that never makes one does without. */
async function open() {
  const { Agent, request } = await import('undici')
  // An agent of our own knows no proxy of the environment.
  const agent = new Agent({
    connect: { timeout: CONNECT_MS },
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxResponseSize: ANSWER_MAX,
  })
  return { agent, request }
}
