// The operations of the API that tools call, with the credential of the caller.

import type { ErrorCode } from '../base/errors.ts'
import type { RequestFacts } from '../http/route.ts'

/** One request; the answer is the envelope of the API. */
export interface ApiOperation {
  method: 'GET' | 'POST' | 'DELETE'
  /** Below `/api/v1`. */
  path: string
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  body?: object
  idempotencyKey?: string
  signal?: AbortSignal
}

export interface ApiAnswer<T> {
  data: T
  pagination?: { next_cursor?: string }
  meta: { state?: string }
}

/** `T` is the part of the documented answer that the tool reads. */
export type CallApi = <T>(operation: ApiOperation) => Promise<ApiAnswer<T>>

/** Why an operation was refused: shown to the model. */
export class ToolError extends Error {
  readonly code: ErrorCode
  readonly retryAfter: number | null

  constructor(code: ErrorCode, message: string, retryAfter: number | null = null) {
    super(message)
    this.name = 'ToolError'
    this.code = code
    this.retryAfter = retryAfter
  }
}

/**
 * Calls the API over HTTP.
 * @param origin of the appliance, such as `https://mail.example`
 * @param key a mailbox key, or a token of an agent
 */
export function callOverHttp(origin: string, key: string): CallApi {
  return async ({ method, body, idempotencyKey, signal, ...operation }) => {
    const url = new URL(`/api/v1${targetOf(operation)}`, origin)
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const reply = await fetch(url, { method, headers, body: sent, signal, redirect: 'error' }).catch(
      (error: unknown) => {
        throw new ToolError('service_unavailable', `${origin} cannot be reached: ${(error as Error).message}`)
      },
    )
    return readAnswer(reply.status, await reply.text(), reply.headers.get('retry-after'))
  }
}

/** Calls the API of the listener that a request came to, with its credential. */
export function callInProcess(request: Pick<RequestFacts, 'callApi'>): CallApi {
  return async (operation) => {
    const { status, text, retryAfter } = await request.callApi({ ...operation, path: targetOf(operation) })
    return readAnswer(status, text, retryAfter)
  }
}

function targetOf({ path, query = {} }: Pick<ApiOperation, 'path' | 'query'>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** @throws ToolError for an error of the API */
function readAnswer(status: number, text: string, retryAfter: string | null): ApiAnswer<never> {
  const answer = readJson(text) as
    | (Partial<ApiAnswer<unknown>> & { error?: { code: ErrorCode; message: string } })
    | null
  if (answer?.meta !== undefined && answer.error === undefined) return answer as ApiAnswer<never>
  const wait = Number(retryAfter ?? Number.NaN)
  const { code, message } = answer?.error ?? { code: 'internal_error' as const, message: `Status ${status}.` }
  throw new ToolError(code, message, Number.isNaN(wait) ? null : wait)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
