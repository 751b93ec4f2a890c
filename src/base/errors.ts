// ProductError, the class of all expected errors: a code, a message and details for the caller.

/** All error codes (docs/design/contract.md §7, docs/design/http.md §5). Each protocol maps them to its own. */
export type ErrorCode =
  | 'invalid_parameter'
  | 'missing_parameter'
  | 'authentication_required'
  | 'insufficient_permissions'
  | 'not_found'
  | 'conflict'
  | 'idempotency_conflict'
  | 'payload_too_large'
  | 'validation_error'
  | 'rate_limit_exceeded'
  | 'internal_error'
  | 'service_unavailable'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'

/** One problem of the input: the field (dot path), the violated rule (docs/design/http.md §4) and a message. */
export interface Issue {
  field: string
  code: string
  message: string
  /** Position in a text of several lines, both counted from 1. */
  line?: number
  column?: number
}

export interface ErrorDetail {
  /** The invalid parameter when there is no list of issues; otherwise the field of the first issue. */
  param?: string
  issues?: Issue[]
  /** Seconds after which the same call may succeed. */
  retryAfter?: number
  cause?: unknown
}

/** An expected failure. Its message is in English and safe to show to the caller. */
export class ProductError extends Error {
  readonly code: ErrorCode
  readonly param: string | undefined
  readonly issues: Issue[] | undefined
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}) {
    super(message, { cause: detail.cause })
    this.name = 'ProductError'
    this.code = code
    this.issues = detail.issues
    this.param = detail.param ?? detail.issues?.[0]?.field
    this.retryAfter = detail.retryAfter
  }
}

/** The error for a resource that does not exist or belongs to another team: identical, so that it reveals nothing. */
export function notFound(what = 'resource'): ProductError {
  return new ProductError('not_found', `There is no such ${what}.`)
}

/** A member of a request body violates a semantic rule (422 in HTTP). */
export function invalid(field: string, code: string, message: string): ProductError {
  return new ProductError('validation_error', message, { issues: [{ field, code, message }] })
}

export function conflict(message: string, param?: string): ProductError {
  return new ProductError('conflict', message, { param })
}

/** An expected failure as a plain value: between threads an error loses its class. */
export interface PlainError {
  code: ErrorCode
  message: string
  detail: Omit<ErrorDetail, 'cause'>
}

export function plainError({ code, message, param, issues, retryAfter }: ProductError): PlainError {
  return { code, message, detail: { param, issues, retryAfter } }
}

export function productError({ code, message, detail }: PlainError): ProductError {
  return new ProductError(code, message, detail)
}
