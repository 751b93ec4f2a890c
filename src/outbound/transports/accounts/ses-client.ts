// The client for the operator's Amazon SES account: reads only our own configuration, makes one attempt per call, with a timeout.

import type { SESv2Client } from '@aws-sdk/client-sesv2'
import { HOUR_MS, MINUTE_MS } from '../../../base/durations.ts'
import type { Config } from '../../../config/config.ts'
import { failureOf, shown } from '../../model/api-client.ts'
import type { DelayCause } from '../../model/records.ts'
import type { Stage } from '../../model/transport.ts'

/** Timeout of one call, from connecting to the last byte, in ms. */
const SES_CALL_MS = MINUTE_MS
const CONNECT_MS = 5_000
const CONNECTIONS_MAX = 8

/** Loads the SDK on first use: most appliances have no Amazon SES account. */
export async function openSesClient(config: Config): Promise<SESv2Client> {
  const { SESv2Client } = await import('@aws-sdk/client-sesv2')
  const agent = { keepAlive: true, maxSockets: CONNECTIONS_MAX }
  return new SESv2Client({
    region: config.SES_REGION,
    ...(config.SES_ENDPOINT === '' ? {} : { endpoint: config.SES_ENDPOINT }),
    credentials: { accessKeyId: config.SES_ACCESS_KEY_ID, secretAccessKey: config.SES_SECRET_ACCESS_KEY },
    // The queue decides about retries.
    maxAttempts: 1,
    // Set explicitly, so that environment variables and AWS configuration files have no effect.
    retryMode: 'standard',
    defaultsMode: 'standard',
    useFipsEndpoint: false,
    useDualstackEndpoint: false,
    userAgentAppId: 'mailstead',
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: SES_CALL_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  })
}

/** Aborts a call after its timeout, or when the given signal aborts. */
export function sesTimeout(signal?: AbortSignal, ms = SES_CALL_MS): { abortSignal: AbortSignal } {
  const timeout = AbortSignal.timeout(ms)
  return { abortSignal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]) }
}

/** The Message-ID that SES generates: `id@email.amazonses.com` in us-east-1, `id@region.amazonses.com` elsewhere. */
export function sesMessageId(region: string, id: string): string {
  return `${id}@${region === 'us-east-1' ? 'email' : region}.amazonses.com`
}

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
