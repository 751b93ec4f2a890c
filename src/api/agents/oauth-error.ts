// Errors in the words of OAuth 2 (RFC 6749 5.2), for the routes OAuth's own clients speak to.

import { Type } from 'typebox'
import { type ErrorCode, ProductError } from '../../base/errors.ts'
import type { ErrorAnswer, RouteError } from '../../http/route.ts'
import { Id } from '../../http/schema.ts'
import { record } from '../schemas/record.ts'

/** An error of the token endpoint with a word of its own. */
export class OAuthError extends ProductError {
  readonly word: string

  constructor(word: string, code: ErrorCode, message: string, detail: { retryAfter?: number } = {}) {
    super(code, message, detail)
    this.word = word
  }
}

const BAD_REQUEST = 400
const UNPROCESSABLE = 422

/** What every other error is called there. */
const WORDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  rate_limit_exceeded: 'rate_limit_exceeded',
  service_unavailable: 'temporarily_unavailable',
  internal_error: 'server_error',
  not_found: 'invalid_request',
}

/** Statuses of the form routes; the words of the token endpoint (decisions §11.7) are those of its own. */
export const FORM_FAULTS = {
  schema: record('OAuthError', 'An error of RFC 6749 5.2.', {
    error: Type.String({ description: 'One of the words of the status.' }),
    error_description: Type.String({ description: 'A sentence for people.' }),
    request_id: { ...Id('request'), description: 'Equal to the header X-Request-Id.' },
    retry_after: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Seconds to wait before asking again, as the header Retry-After says.' }),
    ),
  }),
  meanings: {
    400: 'invalid_request: a parameter is missing, repeated or malformed.',
    406: 'invalid_request: Accept excludes application/json.',
    413: 'invalid_request: the form is larger than 16 KiB.',
    415: 'invalid_request: the body is no form.',
    429: 'rate_limit_exceeded: too many requests.',
    500: 'server_error: a fault of the server.',
    503: 'temporarily_unavailable: something needed is not available now.',
  },
}

/** The error as a form route answers with it (decisions §11.1). */
export function showOAuthError({ error, status, requestId, wait }: RouteError): ErrorAnswer {
  const word = error instanceof OAuthError ? error.word : (WORDS[error.code] ?? 'invalid_request')
  const body = {
    error: word,
    error_description: error.message,
    request_id: requestId,
    ...(wait === undefined ? {} : { retry_after: wait }),
  }
  return {
    // RFC 6749 knows one status for everything that is wrong with a request.
    status: status === UNPROCESSABLE ? BAD_REQUEST : status,
    type: 'application/json; charset=utf-8',
    text: JSON.stringify(body),
    headers: { Pragma: 'no-cache' },
  }
}
