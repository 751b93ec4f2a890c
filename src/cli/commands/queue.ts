// `mailstead queue list`, `queue retry`, `queue drop`: queued messages of the outbound queue.

import { isoTime } from '../../base/clock.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import type { QueuedMessage } from '../../outbound/queue/queued-messages.ts'
import type { Command } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'

const EMAIL_ID = new RegExp(idPattern('email'))

export const queueList: Command = {
  words: 'queue list',
  summary: 'List queued messages, earliest due first.',
  options: {
    domain: { value: 'domain', says: 'only messages to this domain' },
    ...LIMIT_OPTION,
  },
  async run(call) {
    const limit = readLimit(call)
    const { outbound } = await call.open()
    const page = await outbound.queue.messages.list({ lane: call.text('domain')?.toLowerCase(), limit, after: null })
    const rows = page.items.map(present)
    return listOutput(rows, page.next !== null, {
      none: 'The queue is empty.',
      head: ['Message', 'From', 'To domain', 'Due', 'In progress'],
      cells: (row) => [row.message_id, row.from_email, row.domain, row.due_at, row.in_hand ? 'yes' : ''],
    })
  },
}

export const queueRetry: Command = {
  words: 'queue retry',
  summary: 'Retry a queued message now.',
  operands: ['message (eml_…)'],
  async run(call) {
    const id = checkId(call.operands[0]!)
    const { outbound } = await call.open()
    const deliveries = await outbound.queue.messages.retry(id)
    return { data: { message_id: id, deliveries }, lines: [`${countOf(deliveries)} of ${id} scheduled for retry now.`] }
  },
}

export const queueDrop: Command = {
  words: 'queue drop',
  summary: 'Drop a queued message; its delivery log records this.',
  operands: ['message (eml_…)'],
  async run(call) {
    const id = checkId(call.operands[0]!)
    const { outbound } = await call.open()
    const deliveries = await outbound.queue.messages.drop(id)
    return { data: { message_id: id, deliveries }, lines: [`${countOf(deliveries)} of ${id} dropped.`] }
  },
}

function checkId(text: string): string {
  if (!EMAIL_ID.test(text)) throw new ProductError('invalid_parameter', `${text} is not the id of a message (eml_…).`)
  return text
}

function countOf(deliveries: number): string {
  return deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`
}

function present({ row, email }: QueuedMessage) {
  return {
    message_id: email.id,
    team_id: email.teamId,
    from_email: email.from.email,
    subject: email.subject,
    domain: row.lane,
    due_at: isoTime(row.dueAt),
    in_hand: row.isLeased,
  }
}
