// The webhooks of the OpenAPI document.

import type { TSchema } from 'typebox'

type Json = Record<string, unknown>

/** Webhooks of the document: the bodies by type of event, and notes for receivers. */
export interface WebhookDocs {
  events: Readonly<Record<string, TSchema>>
  notes: string
}

/** For listeners without webhooks. */
export const NO_WEBHOOKS: WebhookDocs = { events: {}, notes: '' }

/** Headers of a request to a receiver (docs/design/contract.md §6). */
const WEBHOOK_HEADERS = {
  'X-Service-Signature': 'sha256= and the hex of HMAC-SHA-256 over the body.',
  'X-Service-Event-Id': 'Id of the event, the same for every attempt.',
  'X-Service-Event-Type': 'Type of the event.',
  'X-Service-Delivery-Attempt': '1 to 8.',
  'X-Service-Timestamp': 'Unix second of this attempt; not signed.',
  'webhook-id': 'Standard Webhooks: id of the event.',
  'webhook-timestamp': 'Standard Webhooks: Unix second of this attempt.',
  'webhook-signature': 'Standard Webhooks: v1 and the signature over id, timestamp and body.',
}

/** One operation for each type of event; the receiver is the server. */
export function webhooksOf({ events, notes }: WebhookDocs): Json {
  const parameters = Object.entries(WEBHOOK_HEADERS).map(([name, description]) => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } }
  })
  const entries = Object.entries(events).map(([type, schema]) => {
    const { description } = schema as { description?: string }
    const post = {
      operationId: `on${type.replace(/(?:^|[._])([a-z])/g, (_, initial: string) => initial.toUpperCase())}`,
      tags: ['Webhooks'],
      summary: description,
      description: notes,
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema: JSON.parse(JSON.stringify(schema)) } } },
      responses: { '2XX': { description: 'Taken.' }, default: { description: 'Retried later.' } },
    }
    return [type, { post }]
  })
  return Object.fromEntries(entries)
}
