// OAuth 2 errors (RFC 6749 §5.2), for the routes that OAuth clients call.

import { Type } from 'typebox'
import { type ErrorCode, ProductError } from '../../base/errors.ts'
import type { ErrorAnswer, RouteError } from '../../http/error-answer.ts'
import { Id } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'

/** An error of the token endpoint with its OAuth error code. */
export class OAuthError extends ProductError {
  readonly word: string

  constructor(word: string, code: ErrorCode, message: string, detail: { retryAfter?: number } = {}) {
    super(code, message, detail)
    this.word = word
  }
}

const BAD_REQUEST = 400
const UNPROCESSABLE = 422

/** OAuth error codes of product errors. */
const WORDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  rate_limit_exceeded: 'rate_limit_exceeded',
  service_unavailable: 'temporarily_unavailable',
  internal_error: 'server_error',
  not_found: 'invalid_request',
}

/** Statuses of the form routes; the token endpoint (docs/design/agents.md §5) has its own. */
export const FORM_ERRORS = {
  schema: record('OAuthError', 'An error of RFC 6749 5.2.', {
    error: Type.String({ description: 'One of the OAuth error codes of the status.' }),
    error_description: Type.String({ description: 'A readable description.' }),
    request_id: { ...Id('request'), description: 'Equal to the header X-Request-Id.' },
    retry_after: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Seconds to wait before the next request; equal to the header Retry-After.',
      }),
    ),
  }),
  meanings: {
    400: 'invalid_request: a parameter is missing, repeated or malformed.',
    406: 'invalid_request: Accept excludes application/json.',
    413: 'invalid_request: the form is larger than 16 KiB.',
    415: 'invalid_request: the body is not a form (application/x-www-form-urlencoded).',
    429: 'rate_limit_exceeded: too many requests.',
    500: 'server_error: an internal error of the server.',
    503: 'temporarily_unavailable: a part the request needs is unavailable.',
  },
}

/** The error response of a form route (docs/design/agents.md §1). */
export function showOAuthError({ error, status, requestId, wait }: RouteError): ErrorAnswer {
  const word = error instanceof OAuthError ? error.word : (WORDS[error.code] ?? 'invalid_request')
  const body = {
    error: word,
    error_description: error.message,
    request_id: requestId,
    ...(wait === undefined ? {} : { retry_after: wait }),
  }
  return {
    // RFC 6749 §5.2 has one status for every invalid request.
    status: status === UNPROCESSABLE ? BAD_REQUEST : status,
    type: 'application/json; charset=utf-8',
    text: JSON.stringify(body),
    headers: { Pragma: 'no-cache' },
  }
}
