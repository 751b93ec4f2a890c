// Actions on one delivery of the log: retry, cancel, resend; and the events it caused, with the webhooks that were called.

import { Type } from 'typebox'
import { isoTime } from '../../base/clock.ts'
import { notFound } from '../../base/errors.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../db/db.ts'
import { allows } from '../../directory/names/permissions.ts'
import { answer, route } from '../../http/route.ts'
import { Id, listOf } from '../../http/schema.ts'
import type { DeliveryRecord } from '../../outbound/log/delivery-log.ts'
import type { Resent } from '../../outbound/submit/resending.ts'
import { DeliveryEvent, presentDeliveryEvents } from '../schemas/delivery-event.ts'
import { type DeliveryLogDetail, presentDeliveryDetail } from '../schemas/delivery-log.ts'
import { record } from '../schemas/record.ts'
import { TimeOf } from '../schemas/time.ts'

const params = Type.Object({ log_id: Id('deliveryLog') })
const TAG = 'Delivery log'
const PER_MINUTE = 6

const retryDelivery = route({
  method: 'POST',
  path: '/emails/logs/{log_id}/retry',
  docs: {
    operation: 'retryDelivery',
    errors: ['conflict'],
    tag: TAG,
    summary: 'Attempt a pending delivery now',
    description:
      'The next attempt is due at once instead of at its planned time; a server that did not answer lately may not be asked again ' +
      'yet. 409 when the delivery is not pending, an attempt is in ' +
      `progress, or the message is scheduled for later; at most ${PER_MINUTE} a minute.`,
  },
  access: { as: 'team', permission: 'email.send' },
  params,
  limits: { throttle: { times: PER_MINUTE, seconds: 60 } },
  reply: {
    schema: record('DeliveryRetry', 'The delivery, and when its next attempt is due.', {
      id: Id('deliveryLog'),
      due_at: TimeOf('When the next attempt is due: now.'),
    }),
    etag: true,
  },
  async handle({ params: { log_id: id }, principal, app, request }) {
    request.matches(detailOf(app, principal.teamId, id))
    const dueAt = await app.outbound.queue.actions.retry(principal.teamId, id)
    return answer({ data: { id, due_at: isoTime(dueAt) }, version: detailOf(app, principal.teamId, id) })
  },
})

const cancelDelivery = route({
  method: 'POST',
  path: '/emails/logs/{log_id}/cancel',
  docs: {
    operation: 'cancelDelivery',
    errors: ['conflict'],
    tag: TAG,
    summary: 'Cancel a pending delivery to one recipient',
    description:
      'Also possible after attempts that failed. The log shows `cancelled`; other recipients are not affected. 409 when the ' +
      'delivery is not pending or an attempt is in progress.',
  },
  access: { as: 'team', permission: 'email.send' },
  params,
  reply: {
    schema: record('DeliveryCanceled', 'The delivery is canceled.', { id: Id('deliveryLog') }),
    etag: true,
  },
  async handle({ params: { log_id: id }, principal, app, request }) {
    request.matches(detailOf(app, principal.teamId, id))
    await app.outbound.queue.actions.cancel(principal.teamId, id)
    return answer({ data: { id }, version: detailOf(app, principal.teamId, id) })
  },
})

const resendDelivery = route({
  method: 'POST',
  path: '/emails/logs/{log_id}/resend',
  docs: {
    operation: 'resendDelivery',
    errors: ['conflict', 'validation_error'],
    tag: TAG,
    summary: 'Send a failed message to its recipient again',
    description:
      'A new message with the same content, sender and recipient, which has a row of its own in the log. The content of a message ' +
      'up to 10 MiB is kept for seven days after a delivery failed or was rejected. 409 when it is no longer kept, the delivery has ' +
      'not failed, was resent already, or the recipient is suppressed.',
  },
  access: { as: 'team', permission: 'email.send' },
  params,
  idempotent: true,
  reply: {
    schema: record('DeliveryResent', 'The new message.', {
      message_id: Id('email'),
      delivery_log_id: { ...Id('deliveryLog'), description: 'Its row in the delivery log.' },
    }),
    status: 202,
    etag: true,
  },
  async handle({ params: { log_id: id }, principal, app, request }) {
    request.matches(detailOf(app, principal.teamId, id))
    const keep = (tx: Tx, resent: Resent) => request.keep(tx, { data: presentResent(resent) })
    const data = presentResent(await app.outbound.submit.resending.resend(principal.teamId, id, keep))
    return answer({ data, version: detailOf(app, principal.teamId, id) })
  },
})

const listDeliveryEvents = route({
  method: 'GET',
  path: '/emails/logs/{log_id}/events',
  docs: {
    operation: 'listDeliveryEvents',
    tag: TAG,
    summary: 'List the events of a delivery with the webhooks that were called',
    description:
      'Oldest first. `attempts` is null without the permission `webhook.read`. Events are kept for `WEBHOOK_PAYLOAD_RETENTION_DAYS`.',
  },
  access: { as: 'team', permission: 'logs.read' },
  params,
  reply: { schema: listOf(DeliveryEvent), list: 'whole' },
  handle({ params: { log_id }, principal, app }) {
    const row = rowOf(app, principal.teamId, log_id)
    const times = row.timeline.map(({ at }) => at)
    const events = app.events.ofDelivery(principal.teamId, log_id, times)
    const isReader = allows(principal.permissions, 'webhook.read')
    const attempts = isReader
      ? app.eventDispatch.attemptsOf(
          principal.teamId,
          events.map(({ id }) => id),
        )
      : null
    return { items: presentDeliveryEvents(events, attempts), next: null }
  },
})

/** @throws ProductError not_found */
function rowOf(app: Context, teamId: string, id: string): DeliveryRecord {
  const row = app.outbound.log.deliveries.get(teamId, id)
  if (row === undefined) throw notFound('delivery log row')
  return row
}

function detailOf(app: Context, teamId: string, id: string): DeliveryLogDetail {
  return presentDeliveryDetail(rowOf(app, teamId, id), app.outbound.log.singleDeliveries.resendingOf(id))
}

function presentResent({ emailId, deliveryId }: Resent) {
  return { message_id: emailId, delivery_log_id: deliveryId }
}

export const deliveryActions = [retryDelivery, cancelDelivery, resendDelivery, listDeliveryEvents]
