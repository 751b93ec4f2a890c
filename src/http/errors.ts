// The one table from product errors to HTTP, and the error member of an envelope.

import type { ErrorCode, Issue, ProductError } from '../base/errors.ts'

interface ErrorRule {
  status: number
  retryable: boolean
  /** Description in the OpenAPI document. */
  meaning: string
}

/** docs/design/contract.md §7 and docs/design/http.md §5. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorRule>> = {
  invalid_parameter: { status: 400, retryable: false, meaning: 'A parameter or the syntax of the body is wrong.' },
  missing_parameter: { status: 400, retryable: false, meaning: 'A required parameter is missing.' },
  authentication_required: { status: 401, retryable: false, meaning: 'No credential, or an invalid one.' },
  insufficient_permissions: { status: 403, retryable: false, meaning: 'The credential lacks a permission.' },
  not_found: { status: 404, retryable: false, meaning: 'Missing, or owned by another team or mailbox.' },
  method_not_allowed: { status: 405, retryable: false, meaning: 'The path exists, the method does not.' },
  not_acceptable: { status: 406, retryable: false, meaning: 'Accept excludes every available type.' },
  conflict: { status: 409, retryable: false, meaning: 'The state forbids the operation.' },
  idempotency_conflict: { status: 409, retryable: false, meaning: 'The Idempotency-Key is in use.' },
  payload_too_large: { status: 413, retryable: false, meaning: 'The body is too large.' },
  unsupported_media_type: { status: 415, retryable: false, meaning: 'The body has an unsupported type.' },
  range_not_satisfiable: { status: 416, retryable: false, meaning: 'The range is outside the content.' },
  validation_error: { status: 422, retryable: false, meaning: 'The body breaks a rule.' },
  rate_limit_exceeded: { status: 429, retryable: true, meaning: 'Too many requests; Retry-After says when to retry.' },
  internal_error: { status: 500, retryable: true, meaning: 'An internal error of the server.' },
  service_unavailable: { status: 503, retryable: true, meaning: 'A part the request needs is unavailable.' },
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

/** @param appOrigin origin of the documentation */
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
