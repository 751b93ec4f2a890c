// Failures of an ACME exchange: problem documents of the authority (RFC 8555 §6.7, RFC 9457), and answers that are none.

const TYPE_PREFIX = 'urn:ietf:params:acme:error:'
/** Types with which the same request may succeed later. */
const TRANSIENT = ['rateLimited', 'serverInternal', 'badNonce']
const DETAIL_MAX = 500
const TYPE_MAX = 100

/** A problem document, within bounds. */
export interface Problem {
  /** Without the prefix of RFC 8555, such as `rateLimited`; the whole URI for a type of others; '' without one. */
  type: string
  /** What the authority says, one line. */
  detail: string
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

interface Options {
  type?: string | null
  retryAt?: number | null
  headers?: Headers
  isTransient?: boolean
  cause?: unknown
}

/** Why an exchange failed. The message is one sentence for the operator. */
export class AcmeError extends Error {
  /** The type of the problem document; null when the authority did not answer, or not as RFC 8555 says. */
  readonly type: string | null
  /** When to try again at the earliest, ms; null when the authority did not say. */
  readonly retryAt: number | null
  /** Whether the same request may succeed later: there was no answer, or the authority is busy or in trouble. */
  readonly isTransient: boolean
  /** Of the answer: it may carry the next nonce. */
  readonly headers: Headers

  constructor(message: string, options: Options = {}) {
    super(message, { cause: options.cause })
    this.name = 'AcmeError'
    this.type = options.type ?? null
    this.retryAt = options.retryAt ?? null
    this.isTransient = options.isTransient ?? TRANSIENT.includes(this.type ?? '')
    this.headers = options.headers ?? {}
  }
}

/** The problem of a parsed JSON value; null when it is none. */
export function problemOf(value: unknown): Problem | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { type, detail, subproblems } = value as Record<string, unknown>
  if (typeof type !== 'string' && typeof detail !== 'string') return null
  const parts = [detail, ...(Array.isArray(subproblems) ? subproblems.slice(0, 3).map(detailOf) : [])]
  const words = parts.filter((part): part is string => typeof part === 'string').map(oneLine)
  const name = typeof type === 'string' ? oneLine(type.replace(TYPE_PREFIX, '')).slice(0, TYPE_MAX) : ''
  return { type: name, detail: words.join(' ').slice(0, DETAIL_MAX) }
}

/** A problem as an error. */
export function problemError(problem: Problem, answer: Pick<Options, 'retryAt' | 'headers'> = {}): AcmeError {
  const { type, detail } = problem
  const says = detail === '' ? 'gives no reason' : `says: ${detail}`
  return new AcmeError(`The certificate authority ${says}${type === '' ? '' : ` (${type})`}`, { ...answer, type })
}

function detailOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>).detail : undefined
}

/** Foreign text is shown to operators and written to the log: no control characters, no direction marks. */
function oneLine(text: string): string {
  return text
    .slice(0, DETAIL_MAX)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
}
