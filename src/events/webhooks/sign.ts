// Signs webhook requests: an HMAC over the exact body, and the headers of Standard Webhooks.

import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
// 33 bytes are 44 characters of base64 without padding.
const SECRET_BYTES = 33
const USER_AGENT = 'MailAppliance-Webhooks/1.0'

/**
 * A new signing secret. Its characters are letters and digits only and their number is a multiple of four, so that every
 * base64 decoder accepts it: verifiers of Standard Webhooks decode what follows the prefix.
 */
export function newSigningSecret(): string {
  for (;;) {
    const text = randomBytes(SECRET_BYTES).toString('base64')
    // About one candidate in four passes; more than 250 bits of entropy remain.
    if (/^[0-9A-Za-z]+$/.test(text)) return PREFIX + text
  }
}

/** docs/design/events.md §3: keyed with the UTF-8 bytes of the whole secret, prefix included. */
export function signature(secret: string, body: Uint8Array | string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** The signature of Standard Webhooks, version v1: https://www.standardwebhooks.com. */
function standardSignature(secret: string, id: string, seconds: number, body: Uint8Array | string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')}`
}

/** The input of the headers and signatures of a request. */
export interface SignatureInput {
  event: { id: string; type: string; body: Uint8Array | string }
  attempt: number
  /** ms */
  now: number
  secret: string
  /** The secret before the last rotation, during the grace period. */
  previousSecret: string | null
}

/** The headers of one request. Each retry is signed with the secrets valid at that time. */
export function headersOf({ event, attempt, now, secret, previousSecret }: SignatureInput): Record<string, string> {
  const seconds = Math.floor(now / 1000)
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret]
  return {
    'Content-Type': 'application/json',
    'User-Agent': USER_AGENT,
    'X-Service-Signature': signature(secret, event.body),
    // Receivers compare the whole value: two signatures cannot share a header.
    ...(previousSecret === null ? {} : { 'X-Service-Signature-Previous': signature(previousSecret, event.body) }),
    'X-Service-Event-Id': event.id,
    'X-Service-Event-Type': event.type,
    'X-Service-Delivery-Attempt': String(attempt),
    'X-Service-Timestamp': String(seconds),
    'webhook-id': event.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((one) => standardSignature(one, event.id, seconds, event.body)).join(' '),
  }
}
