// Events of received messages without the begin of their text, for people: no role opens a mailbox by itself.

import type { TeamPrincipal } from '../../directory/principal.ts'
import type { EventBody } from '../../events/events.ts'
import type { WebhookDeliveryDetail } from '../schemas/webhook-delivery.ts'

/** For the descriptions of routes. */
export const NO_PREVIEWS =
  'People in a browser see an empty `preview` of received messages: that is for who may open the mailbox.'

/** An event as the principal may see it: keys see what webhooks are sent. */
export function eventFor({ person }: TeamPrincipal, event: EventBody): EventBody {
  if (person === undefined || !isReceived(event.type)) return event
  return { ...event, data: { ...event.data, preview: '' } }
}

/** The same for the request of an attempt to deliver one. */
export function deliveryFor(principal: TeamPrincipal, detail: WebhookDeliveryDetail): WebhookDeliveryDetail {
  const { request_payload: payload, event_type: type } = detail
  if (principal.person === undefined || payload === null || !isReceived(type)) return detail
  return { ...detail, request_payload: JSON.stringify(eventFor(principal, JSON.parse(payload) as EventBody)) }
}

function isReceived(type: string): boolean {
  return type.startsWith('message.received')
}
