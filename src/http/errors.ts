// The one table from product errors to HTTP, and the error member of an envelope.

import type { ErrorCode, Issue, ProductError } from '../base/errors.ts'

interface ErrorRule {
  status: number
  retryable: boolean
  /** What it means, for the OpenAPI document. */
  meaning: string
}

/** Specification §7 and decisions §1.5. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorRule>> = {
  invalid_parameter: { status: 400, retryable: false, meaning: 'A parameter or the syntax of the body is wrong.' },
  missing_parameter: { status: 400, retryable: false, meaning: 'A required parameter is missing.' },
  authentication_required: { status: 401, retryable: false, meaning: 'No credential, or not a valid one.' },
  insufficient_permissions: { status: 403, retryable: false, meaning: 'The credential lacks a permission.' },
  not_found: { status: 404, retryable: false, meaning: 'Missing, or not yours.' },
  method_not_allowed: { status: 405, retryable: false, meaning: 'The path is known, the method is not.' },
  not_acceptable: { status: 406, retryable: false, meaning: 'Accept excludes every type there is.' },
  conflict: { status: 409, retryable: false, meaning: 'The state forbids the operation.' },
  idempotency_conflict: { status: 409, retryable: false, meaning: 'The Idempotency-Key is in use.' },
  payload_too_large: { status: 413, retryable: false, meaning: 'The body is over the limit.' },
  unsupported_media_type: { status: 415, retryable: false, meaning: 'The body has another type.' },
  range_not_satisfiable: { status: 416, retryable: false, meaning: 'The range lies outside the content.' },
  validation_error: { status: 422, retryable: false, meaning: 'The body breaks a rule.' },
  rate_limit_exceeded: { status: 429, retryable: true, meaning: 'Too many requests; Retry-After tells when.' },
  internal_error: { status: 500, retryable: true, meaning: 'A fault of the server.' },
  service_unavailable: { status: 503, retryable: true, meaning: 'Something needed is not available now.' },
}

/** `error` of the envelope. */
export interface ErrorMember {
  code: ErrorCode
  message: string
  retryable: boolean
  param?: string
  doc_url: string
  errors?: Issue[]
}

export function statusOf(code: ErrorCode): number {
  return ERRORS[code].status
}

/** @param appOrigin where the documents of the house lie */
export function errorMember(error: ProductError, appOrigin: string): ErrorMember {
  return {
    code: error.code,
    message: error.message,
    retryable: ERRORS[error.code].retryable,
    ...(error.param === undefined ? {} : { param: error.param }),
    doc_url: `${appOrigin}/docs/errors#${error.code}`,
    ...(error.issues === undefined ? {} : { errors: error.issues }),
  }
}
