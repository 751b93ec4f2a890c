// `mailstead queue list`, `queue retry`, `queue drop`: what waits to leave.

import { isoTime } from '../base/clock.ts'
import { ProductError } from '../base/errors.ts'
import { idPattern } from '../base/ids.ts'
import type { WaitingDelivery } from '../outbound/queued-messages.ts'
import type { Command } from './command.ts'
import { cut, LIMIT_OPTION, readLimit } from './limit.ts'
import { table } from './table.ts'

const EMAIL_ID = new RegExp(idPattern('email'))

export const queueList: Command = {
  words: 'queue list',
  summary: 'Shows what waits to leave, what is due first on top.',
  options: {
    domain: { value: 'domain', says: 'only mail to this domain' },
    ...LIMIT_OPTION,
  },
  async run(call) {
    const limit = readLimit(call)
    const { outbound } = await call.open()
    const page = await outbound.waiting.list({ lane: call.text('domain')?.toLowerCase(), limit, after: null })
    const rows = page.items.map(present)
    const head = ['Mail', 'From', 'To domain', 'Due', 'In hand']
    const cells = rows.map((row) => [row.message_id, row.from_email, row.domain, row.due_at, row.in_hand ? 'yes' : ''])
    const lines = rows.length === 0 ? ['Nothing waits.'] : table([head, ...cells])
    return { data: rows, lines: cut(lines, page.next !== null) }
  },
}

export const queueRetry: Command = {
  words: 'queue retry',
  summary: 'Has a mail tried again now.',
  operands: ['mail (eml_…)'],
  async run(call) {
    const id = checkId(call.operands[0]!)
    const { outbound } = await call.open()
    const deliveries = await outbound.waiting.retry(id)
    return { data: { message_id: id, deliveries }, lines: [`${countOf(deliveries)} of ${id} tried now.`] }
  },
}

export const queueDrop: Command = {
  words: 'queue drop',
  summary: 'Gives up what waits of a mail; its log says so.',
  operands: ['mail (eml_…)'],
  async run(call) {
    const id = checkId(call.operands[0]!)
    const { outbound } = await call.open()
    const deliveries = await outbound.waiting.drop(id)
    return { data: { message_id: id, deliveries }, lines: [`${countOf(deliveries)} of ${id} given up.`] }
  },
}

function checkId(text: string): string {
  if (!EMAIL_ID.test(text)) throw new ProductError('invalid_parameter', `${text} is no id of a mail (eml_…).`)
  return text
}

function countOf(deliveries: number): string {
  return deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`
}

function present({ row, email }: WaitingDelivery) {
  return {
    message_id: email.id,
    team_id: email.teamId,
    from_email: email.from.email,
    subject: email.subject,
    domain: row.lane,
    due_at: isoTime(row.dueAt),
    in_hand: row.inHand,
  }
}
