// Errors in the words of OAuth 2 (RFC 6749 5.2), for the routes OAuth's own clients speak to.

import { type ErrorCode, ProductError } from '../../../base/errors.ts'
import type { Fault, FaultAnswer } from '../../http/route.ts'

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

/** The error as a form route answers with it (decisions §11.1). */
export function showOAuthError({ error, status, requestId, wait }: Fault): FaultAnswer {
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
