// Events of received messages without the beginning of their text, for people: no role opens a mailbox by itself.

import type { Vault } from '../../base/secrets.ts'
import type { TeamPrincipal } from '../../directory/names/principal.ts'
import type { EventBody } from '../../events/events.ts'
import type { WebhookDelivery, WebhookDeliveryDetail } from '../schemas/webhook-delivery.ts'

/** For the descriptions of routes. */
export const NO_PREVIEWS =
  'People in a browser see an empty `preview` of received messages: that is for who may open the mailbox.'
/** The hash or signature of a payload of which all but a short text is known shows the text to who tries all of them. */
export const NO_HASHES =
  'Of such events they see no signatures, and another value as `request_payload_sha256` that only names the payload.'

const PURPOSE = 'shown-payload'
const SIGNATURES = new Set(['x-service-signature', 'x-service-signature-previous', 'webhook-signature'])

/** An event as the principal may see it: keys see what webhooks are sent. */
export function eventFor({ person }: TeamPrincipal, event: EventBody): EventBody {
  if (person === undefined || !isReceived(event.type)) return event
  return { ...event, data: { ...event.data, preview: '' } }
}

/** The same for an attempt to deliver one. */
export function attemptFor<T extends WebhookDelivery>({ person }: TeamPrincipal, attempt: T, vault: Vault): T {
  if (person === undefined || !isReceived(attempt.event_type)) return attempt
  return { ...attempt, request_payload_sha256: vault.mac(PURPOSE, attempt.request_payload_sha256).toString('hex') }
}

/** The same for an attempt with its request. */
export function deliveryFor(
  principal: TeamPrincipal,
  detail: WebhookDeliveryDetail,
  vault: Vault,
): WebhookDeliveryDetail {
  if (principal.person === undefined || !isReceived(detail.event_type)) return detail
  const { request_payload: payload, request_headers: headers } = detail
  const shown = payload === null ? null : JSON.stringify(eventFor(principal, JSON.parse(payload) as EventBody))
  const unsigned = Object.entries(headers).filter(([name]) => !SIGNATURES.has(name.toLowerCase()))
  return {
    ...attemptFor(principal, detail, vault),
    ...{ request_payload: shown, request_headers: Object.fromEntries(unsigned) },
  }
}

function isReceived(type: string): boolean {
  return type.startsWith('message.received')
}
