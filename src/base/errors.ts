// The one error the product throws on purpose: a code, a sentence, and what a caller can do about it.

/** Every code a caller can meet (specification §7, decisions §1.5). Surfaces map them to their own words. */
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

/** One thing that is wrong with what was given: where (dot path), which rule (decisions §1.4), and a sentence. */
export interface Issue {
  field: string
  code: string
  message: string
  /** Where in a text of several lines, both from 1. */
  line?: number
  column?: number
}

export interface ErrorDetail {
  /** The parameter at fault where there is no list of issues; the first issue's field otherwise. */
  param?: string
  issues?: Issue[]
  /** Seconds to wait before the same call may succeed. */
  retryAfter?: number
  cause?: unknown
}

/** An expected failure. Its message is one English sentence, safe to show to whoever asked. */
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

/** The answer for what is missing or belongs to somebody else: always the same, so that it tells nothing. */
export function notFound(what = 'resource'): ProductError {
  return new ProductError('not_found', `There is no such ${what}.`)
}

/** A semantic rule broken by one member of a body (422 on the HTTP surface). */
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
