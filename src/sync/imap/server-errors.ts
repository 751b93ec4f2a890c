// Which effect an error of an account's server has: try later, this command only, or a person has to act.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../base/durations.ts'
import { CERTIFICATE_ERRORS, CONNECT_ERRORS } from '../../net/peer-errors.ts'
import { ServerError } from '../model/server.ts'
import type { ResponseCode } from './imap-values.ts'

/** What was being done. */
export type ServerStage = 'connect' | 'sign-in' | 'command'

const RETRY_MAX_MS = DAY_MS
const TEXT_MAX = 200
/** Shorter texts are not hidden: they occur within ordinary words. */
const SECRET_LEAST = 4

/** RFC 5530 and others: the server is at fault, or asks for less. */
const LATER_CODES = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'SERVERBUG', 'CONTACTADMIN', 'THROTTLED', 'CORRUPTION'])
/** ... one message may be the cause. */
const FAILURE_CODES = new Set(['SERVERBUG', 'CONTACTADMIN', 'CORRUPTION'])
const FAILURE_TEXT = /internal (?:server )?error/i
const CREDENTIAL_CODES = new Set([
  'AUTHENTICATIONFAILED',
  'AUTHORIZATIONFAILED',
  'EXPIRED',
  'PRIVACYREQUIRED',
  'WEBALERT',
])
/** Texts of servers that are overloaded or limit their clients, also where they answer a sign-in. */
const LATER_TEXT =
  /throttl|too many|rate.?limit|try (?:again|later)|temporar|unavailable|exceeded .*(?:limit|bandwidth)|overload|not connected|lockdown|busy|backoff|maximum number of connections|internal (?:server )?error|timed? ?out/i
const QUOTA_TEXT = /quota|mailbox (?:is )?full|over ?limit|insufficient (?:storage|space)/i
const BANDWIDTH_TEXT = /bandwidth limits?/i
const CERTIFICATE_CODES = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|HOSTNAME_MISMATCH/

/** What the server answered, without secrets and control characters, for people. */
export function shownText(text: string, secrets: readonly string[] = []): string {
  const hidden = secrets
    .filter((secret) => secret.length >= SECRET_LEAST)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
  const plain = hidden
    .replaceAll(/[^\P{C}]+|\s+/gu, ' ')
    // The marks of a quotation are ours.
    .replaceAll(/[“”„‟]/g, '"')
    .trim()
  return plain.length > TEXT_MAX ? `${plain.slice(0, TEXT_MAX)}…` : plain
}

/**
 * The error of a NO or BAD.
 * @param now ms, for limits that end with the day @param secrets what must not be in its text
 */
export function refusalOf(
  host: string,
  stage: ServerStage,
  answer: ResponseCode,
  options: { now: number; secrets?: readonly string[]; isToken?: boolean },
): ServerError {
  const { name, text } = answer
  const said = shownText(text, options.secrets)
  const quote = said === '' ? '.' : `: “${said}”`
  const retryAfterMs = retryOf(text, options.now)
  if (stage !== 'command') return signInError(host, answer, { ...options, quote, retryAfterMs })
  if (name === 'OVERQUOTA' && BANDWIDTH_TEXT.test(text)) {
    return new ServerError('delay', `${host} limits how much is read each day${quote}`, {
      retryAfterMs: untilMidnight(options.now),
    })
  }
  if (name === 'OVERQUOTA' || (name === null && QUOTA_TEXT.test(text) && !LATER_TEXT.test(text))) {
    return new ServerError('refused', `The account at ${host} is full${quote}`, { kind: 'quota' })
  }
  if (name === 'AUTHENTICATIONFAILED' || name === 'EXPIRED') {
    return new ServerError('delay', `${host} ended the sign-in${quote}`)
  }
  if (retryAfterMs !== undefined || LATER_CODES.has(name ?? '') || (name === null && LATER_TEXT.test(text))) {
    const isFailure = FAILURE_CODES.has(name ?? '') || (name === null && FAILURE_TEXT.test(text))
    return new ServerError('delay', `${host} asks to try again later${quote}`, { retryAfterMs, isFailure })
  }
  return new ServerError('refused', `${host} refused a command${quote}`)
}

function signInError(
  host: string,
  { name, text }: ResponseCode,
  { quote, retryAfterMs, isToken, now }: { quote: string; retryAfterMs?: number; isToken?: boolean; now: number },
): ServerError {
  if (BANDWIDTH_TEXT.test(text)) {
    return new ServerError('delay', `${host} limits how much is read each day${quote}`, {
      retryAfterMs: untilMidnight(now),
    })
  }
  const isLater = retryAfterMs !== undefined || LATER_CODES.has(name ?? '') || LATER_TEXT.test(text)
  if (isLater && !CREDENTIAL_CODES.has(name ?? '')) {
    return new ServerError('delay', `${host} does not accept sign-ins now${quote}`, { retryAfterMs })
  }
  const what = isToken === true ? 'the token of the account' : 'the user name or the password'
  return new ServerError('failed', `${host} does not accept ${what}${quote}`, { kind: 'credentials' })
}

/** A time that the server names: of Exchange ("Suggested Backoff Time: 92415 milliseconds") and "try again in 5 minutes". */
function retryOf(text: string, now: number): number | undefined {
  if (BANDWIDTH_TEXT.test(text)) return untilMidnight(now)
  const backoff = /Backoff Time[:=\s]+(\d{1,12})/i.exec(text)?.[1]
  if (backoff !== undefined) return Math.min(Number(backoff), RETRY_MAX_MS)
  const [, count, unit] = /(?:again|retry|wait)\D{0,20}(\d{1,6})\s*(second|minute|hour)/i.exec(text) ?? []
  if (count === undefined) return undefined
  const ms = { s: 1000, m: MINUTE_MS, h: HOUR_MS }[unit![0]!.toLowerCase() as 's' | 'm' | 'h']
  return Math.min(Number(count) * ms, RETRY_MAX_MS)
}

/** Gmail counts by days of UTC; five minutes more for its clock. */
export function untilMidnight(now: number): number {
  return DAY_MS - (now % DAY_MS) + 5 * MINUTE_MS
}

/** What the library, TLS or a socket reports. */
export interface ConnectionFailure {
  code?: string
  message?: string
  tlsFailed?: boolean
}

/** The error of a connection that could not be made, or that ended. */
export function connectionError(
  host: string,
  stage: ServerStage,
  { code = '', message = '', tlsFailed }: ConnectionFailure,
): ServerError {
  if (code === 'STARTTLS_INJECTION') {
    const reason = `${host} sent cleartext after it had agreed to TLS: a third party may be reading along.`
    return new ServerError('failed', reason, { kind: 'certificate' })
  }
  if (tlsFailed === true && code === '') {
    return new ServerError('failed', `${host} does not offer STARTTLS on this port.`, { kind: 'host' })
  }
  const certificate =
    CERTIFICATE_ERRORS.get(code) ?? (CERTIFICATE_CODES.test(code) ? `is not valid (${code})` : undefined)
  if (certificate !== undefined) {
    return new ServerError('failed', `The certificate of ${host} ${certificate}.`, { kind: 'certificate' })
  }
  const why = CONNECTION.get(code)
  const isUnreachable = UNREACHABLE.has(code)
  if (why !== undefined) return new ServerError('delay', `${host} ${why}.`, { isUnreachable })
  if (/^(?:ERR_SSL|EPROTO)/.test(code)) {
    const plain = /WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST/.test(code + message)
    return new ServerError(
      'delay',
      plain ? `${host} does not speak TLS on this port.` : `No TLS with ${host} (${code}).`,
    )
  }
  if (/^ParserError|NESTING/.test(code)) return new ServerError('delay', `${host} sent a response that cannot be read.`)
  return stage === 'connect'
    ? new ServerError('delay', `${host} ended the connection before its greeting.`)
    : new ServerError('delay', `${host} ended the connection.`, { isEnd: stage === 'command' })
}

const UNREACHABLE = new Set([...CONNECT_ERRORS.keys(), 'CONNECT_TIMEOUT'])
const LARGE = 'sent a response above the limits'
const CONNECTION = new Map([
  ...CONNECT_ERRORS,
  ['CONNECT_TIMEOUT', 'does not answer'],
  ['GREETING_TIMEOUT', 'sent no greeting in time'],
  ['UPGRADE_TIMEOUT', 'did not finish the start of TLS in time'],
  ['ETIMEOUT', 'did not answer in time'],
  ['LineTooLarge', LARGE],
  ['LiteralTooLarge', LARGE],
  ['ResponseTooLarge', LARGE],
  ['TooManyTokens', LARGE],
  ['UnexpectedTag', 'answered a command that was not sent'],
  ['InvalidResponse', 'answered in a form that cannot be read'],
  ['ResponseProcessingFailed', 'sent a response that cannot be read'],
])
