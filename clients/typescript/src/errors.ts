// Errors of the API as exceptions, and repetition of requests that may succeed later.

import type { components, ErrorCode } from './generated/api.ts'

type ErrorBody = components['schemas']['Error']['error']

const ATTEMPTS = 4
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 60_000

/** What the API answered instead of data. */
export class MailsteadError extends Error {
  override readonly name = 'MailsteadError'
  /** Status of the HTTP response. */
  readonly status: number
  /** Stable; `unknown` when something between the client and the appliance answered. Newer appliances may use other codes. */
  readonly code: ErrorCode | (string & {})
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
  /** Name of the wrong parameter or field. */
  readonly param: string | undefined
  /** Page that explains the code. */
  readonly docUrl: string | undefined
  /** Every wrong field of the body. */
  readonly issues: NonNullable<ErrorBody['errors']>
  /** For the log of the appliance. */
  readonly requestId: string | undefined
  /** Seconds to wait, when the answer names them. */
  readonly retryAfter: number | undefined

  constructor(response: Response, body: unknown) {
    const error = errorIn(body)
    super(error?.message ?? `The answer was ${response.status} ${response.statusText}`.trimEnd())
    this.status = response.status
    this.code = error?.code ?? 'unknown'
    this.retryable = error?.retryable ?? response.status >= 500
    this.param = error?.param
    this.docUrl = error?.doc_url
    this.issues = error?.errors ?? []
    this.requestId = response.headers.get('X-Request-Id') ?? undefined
    const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
    this.retryAfter = Number.isFinite(seconds) ? seconds : undefined
  }
}

function errorIn(body: unknown): ErrorBody | undefined {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as { error?: unknown }
  return typeof error === 'object' && error !== null ? (error as ErrorBody) : undefined
}

/** What openapi-fetch resolves to. */
export interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/**
 * The body of a successful answer: `const { data } = await unwrap(client.GET('/team'))`.
 * @throws MailsteadError for any other answer
 */
export async function unwrap<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer
  if (!response.ok) throw new MailsteadError(response, error)
  return data as T
}

export interface Attempts {
  /** How often the request is sent at most; 4 unless given. */
  attempts?: number
  /** Waits the given ms; for tests and for waits that can be cancelled. */
  wait?: (ms: number) => Promise<void>
}

/**
 * Repeats a request while the network or the appliance fails, and waits as long as `Retry-After` says, at most a minute.
 * A request that changes something needs an Idempotency-Key, created outside of `call`.
 * @throws MailsteadError TypeError the last failure
 */
export async function retry<T>(call: () => Promise<Answer<T>>, options: Attempts = {}): Promise<T> {
  const { attempts = ATTEMPTS, wait = pause } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await unwrap(call())
    } catch (error) {
      if (attempt >= attempts || !mayRepeat(error)) throw error
      const seconds = error instanceof MailsteadError ? error.retryAfter : undefined
      const ms = seconds === undefined ? FIRST_PAUSE_MS * 2 ** (attempt - 1) : seconds * 1000
      await wait(Math.min(ms, LONGEST_PAUSE_MS))
    }
  }
}

// fetch reports a connection that failed as a TypeError.
function mayRepeat(error: unknown): boolean {
  return error instanceof MailsteadError ? error.retryable : error instanceof TypeError
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
