// The operations of the API that tools call, with the credential of the caller.

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
  readonly code: string
  readonly retryAfter: number | null

  constructor(code: string, message: string, retryAfter: number | null = null) {
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
  return async ({ method, path, query = {}, body, idempotencyKey, signal }) => {
    const url = new URL(`/api/v1${path}`, origin)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    const headers: Record<string, string> = { authorization: `Bearer ${key}`, accept: 'application/json' }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const reply = await fetch(url, { method, headers, body: sent, signal, redirect: 'error' }).catch(
      (error: unknown) => {
        throw new ToolError('service_unavailable', `${origin} cannot be reached: ${(error as Error).message}`)
      },
    )
    const answer = (await reply.json().catch(() => null)) as
      | (Partial<ApiAnswer<unknown>> & {
          error?: { code: string; message: string }
        })
      | null
    if (reply.ok && answer?.meta !== undefined) return answer as ApiAnswer<never>
    const wait = Number(reply.headers.get('retry-after') ?? Number.NaN)
    const { code, message } = answer?.error ?? { code: 'internal_error', message: `Status ${reply.status}.` }
    throw new ToolError(code, message, Number.isNaN(wait) ? null : wait)
  }
}
