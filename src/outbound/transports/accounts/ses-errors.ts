// Classifies a failed call to Amazon SES: the account is unavailable, the message is refused, or the outcome is unknown.

import { HOUR_MS } from '../../../base/durations.ts'
import { failureOf, shown } from '../../model/api-client.ts'
import type { DelayCause } from '../../model/records.ts'
import type { Stage } from '../../model/transport.ts'

export type SesError =
  /** The account cannot send now; SES accepted nothing. */
  | { kind: 'unavailable'; stage: Stage; text: string; cause: DelayCause; retryAfterMs: number | null }
  /** SES refuses this message. */
  | { kind: 'never'; text: string; enhancedCode: string }
  /** Whether SES accepted the message is unknown, and SES has no call to find out. */
  | { kind: 'doubtful'; text: string }

/** Retry delay in ms after an exhausted daily quota: it covers a sliding 24 hours, so an hour frees part of it. */
const QUOTA_WAIT_MS = HOUR_MS

const CREDENTIALS =
  /^(?:UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|InvalidClientTokenId|AccessDenied|IncompleteSignature|MissingAuthenticationToken|ExpiredToken|OptInRequired|NotAuthorized)(?:Exception)?$/
const STOPPED = /^(?:SendingPaused|AccountSuspended)(?:Exception)?$/
const LIMITED =
  /^(?:Throttling|ThrottlingException|TooManyRequestsException|LimitExceededException|RequestLimitExceeded|Throttled\w*)$/
const REFUSED = /^(?:MessageRejected|BadRequestException|InvalidParameterValue|ValidationException|ValidationError)$/
/** SES reports an unverified sender with the error name of a refused message; only the text differs. */
const UNVERIFIED = /not verified/i
const TOO_LARGE = /too (?:large|long)|exceeds? the (?:maximum|limit)|length (?:limit|exceeded)/i

export function sesErrorOf(error: unknown): SesError {
  const {
    name = '',
    message = '',
    $metadata,
  } = error as {
    name?: string
    message?: string
    $metadata?: { httpStatusCode?: number }
  }
  const status = $metadata?.httpStatusCode
  if (status === undefined) return unanswered(error, name, message)
  const text = shown(`${name} ${message}`)
  const off = (stage: Stage, cause: DelayCause, retryAfterMs: number | null = null): SesError => {
    return { kind: 'unavailable', stage, text, cause, retryAfterMs }
  }
  if (LIMITED.test(name) || status === 429) {
    return /daily|quota/i.test(message) ? off('api', 'provider_quota', QUOTA_WAIT_MS) : off('api', 'throttled')
  }
  if (STOPPED.test(name)) return off('api', 'provider_quota', QUOTA_WAIT_MS)
  if (name === 'MailFromDomainNotVerifiedException' || UNVERIFIED.test(message)) return off('sender', 'transient')
  if (CREDENTIALS.test(name) || status === 401 || status === 403) return off('auth', 'transient')
  if (status === 413 || (status === 400 && TOO_LARGE.test(message)))
    return { kind: 'never', text, enhancedCode: '5.3.4' }
  if (REFUSED.test(name) || status === 400) return { kind: 'never', text, enhancedCode: '5.6.0' }
  if (status >= 500) return { kind: 'doubtful', text }
  return off('api', 'transient')
}

/** There was no HTTP response: the stage of the failure decides whether SES may have read the message. */
function unanswered(error: unknown, name: string, message: string): SesError {
  if (/did not establish a connection/.test(message)) {
    const text = 'No connection to Amazon SES in time.'
    return { kind: 'unavailable', stage: 'connect', text, cause: 'network', retryAfterMs: null }
  }
  // The SDK reports its own timeout and an abort like a broken connection.
  if (name === 'AbortError' || (name === 'TimeoutError' && (error as { syscall?: string }).syscall === undefined)) {
    return { kind: 'doubtful', text: 'Amazon SES did not answer in time.' }
  }
  const failure = failureOf(error, null)
  if (failure.kind === 'broken') return { kind: 'doubtful', text: failure.text }
  const cause = failure.stage === 'dns' ? 'dns' : 'network'
  return { kind: 'unavailable', stage: failure.stage, text: failure.text, cause, retryAfterMs: null }
}
