// `mailstead webhook test`, `rotate-secret`, `deliveries`, `replay`: deliveries of webhooks and their secrets.

import { presentWebhook } from '../../api/schemas/webhook.ts'
import { presentDelivery, type WebhookDelivery } from '../../api/schemas/webhook-delivery.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import { GRACE_SECONDS_MAX } from '../../events/webhooks/subscriptions.ts'
import { clean } from '../../mime/one-line.ts'
import { choiceOption, oneOf } from '../frame/choice.ts'
import type { Command } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { checkId, readNumber } from '../frame/options.ts'
import { readTime } from '../frame/time.ts'
import { chooseWebhook, WEBHOOK_OPERAND } from './webhooks.ts'

const RESULTS = ['success', 'retrying', 'failed', 'permanent_failure'] as const
const ATTEMPT_ID = new RegExp(idPattern('webhookAttempt'))
const ATTEMPT_OPERAND = 'delivery (whda_…)'
const DEFAULT_GRACE_SECONDS = 86_400
/** Characters of an error in a list; --json has all of it. */
const ERROR_SHOWN = 80

export const webhookTest: Command = {
  words: 'webhook test',
  summary: 'Send a service.test event to a webhook now; exits with 1 when it is not accepted.',
  operands: [WEBHOOK_OPERAND],
  async run(call) {
    const app = await call.open()
    const webhook = chooseWebhook(app, call.operands[0]!)
    const { eventId, attemptId } = await app.eventDispatch.test(webhook, 'operator')
    const now = app.clock.now()
    const row = presentDelivery(app.eventDispatch.attempts.get(webhook.n, attemptId, now)!, now)
    const isAccepted = row.result === 'success'
    return {
      data: { event_id: eventId, delivery: row },
      lines: [`${webhook.url}: ${outcomeOf(row)}, ${row.response_ms} ms`],
      ...(isAccepted ? {} : { failure: `${webhook.url} did not accept the test event.` }),
    }
  },
}

export const webhookRotateSecret: Command = {
  words: 'webhook rotate-secret',
  summary: 'Replace the signing secret of a webhook; until the grace period ends requests carry both signatures.',
  operands: [WEBHOOK_OPERAND],
  options: {
    grace: { value: 'seconds', says: `how long the old secret signs too (${DEFAULT_GRACE_SECONDS} unless given)` },
  },
  async run(call) {
    const grace = readNumber('grace period', call.text('grace')) ?? DEFAULT_GRACE_SECONDS
    if (grace > GRACE_SECONDS_MAX) {
      const rule = `The grace period must be a whole number of seconds from 0 to ${GRACE_SECONDS_MAX}.`
      throw new ProductError('invalid_parameter', rule)
    }
    const app = await call.open()
    const { teamId, id } = chooseWebhook(app, call.operands[0]!)
    const { webhook, secret } = await app.eventDispatch.webhooks.rotateSecret(teamId, id, grace)
    return {
      data: { ...presentWebhook(webhook), signing_secret: secret },
      lines: [
        `New signing secret of webhook ${id}, shown this once; the old one signs for ${grace} more seconds:`,
        `  ${secret}`,
      ],
    }
  },
}

export const webhookDeliveries: Command = {
  words: 'webhook deliveries',
  summary: 'List the delivery attempts of a webhook, newest first.',
  operands: [WEBHOOK_OPERAND],
  options: {
    result: choiceOption('result', RESULTS),
    ...LIMIT_OPTION,
  },
  async run(call) {
    const result = oneOf('result', call.text('result'), RESULTS)
    const limit = readLimit(call)
    const app = await call.open()
    const webhook = chooseWebhook(app, call.operands[0]!)
    const page = await app.eventDispatch.attempts.list(webhook.n, { result, limit, after: null })
    const now = app.clock.now()
    const rows = page.items.map((attempt) => presentDelivery(attempt, now))
    return listOutput(rows, page.next !== null, {
      none: 'There are no deliveries.',
      head: ['Delivery', 'Time', 'Event', 'Outcome'],
      cells: (row) => [row.id, row.created_at, row.event_type, outcomeOf(row)],
    })
  },
}

export const webhookReplay: Command = {
  words: 'webhook replay',
  summary: 'Deliver the event of an attempt again, under the same event id.',
  operands: [WEBHOOK_OPERAND, ATTEMPT_OPERAND],
  async run(call) {
    const [webhookId, text] = call.operands as [string, string]
    const attempt = checkId(text, ATTEMPT_ID, ATTEMPT_OPERAND)
    const app = await call.open()
    const webhook = chooseWebhook(app, webhookId)
    const { eventId, scheduledAt } = await app.eventDispatch.replay(webhook, attempt)
    const data = { event_id: eventId, scheduled_at: scheduledAt }
    return { data, lines: [`Event ${eventId} is queued again; mailstead serve delivers it.`] }
  },
}

export const webhookReplayFailed: Command = {
  words: 'webhook replay-failed',
  summary: 'Deliver all events of a webhook again that were not delivered, the oldest first.',
  operands: [WEBHOOK_OPERAND],
  options: {
    after: { value: 'time', says: 'only events whose last attempt ended at or after this time (RFC 3339 or a date)' },
    count: { says: 'only count them' },
  },
  async run(call) {
    const after = readTime(call.text('after')) ?? 0
    const app = await call.open()
    const webhook = chooseWebhook(app, call.operands[0]!)
    const { eventDispatch } = app
    const isCount = call.has('count')
    const failed = isCount
      ? await eventDispatch.failedEvents(webhook, after)
      : await eventDispatch.replayFailed(webhook, after)
    const { events, hasMore } = failed
    const done = isCount ? 'were not delivered' : 'are queued again; mailstead serve delivers them'
    const more = hasMore ? ['There are more: run the command again later.'] : []
    return { data: { events, has_more: hasMore }, lines: [`${events} events ${done}.`, ...more] }
  },
}

function outcomeOf(row: WebhookDelivery): string {
  const reply =
    row.response_status === 0 ? clean(row.error_message ?? 'no response', ERROR_SHOWN) : `status ${row.response_status}`
  return `${row.result} (${reply})`
}
