// `mailstead suppression list`, `add`, `remove`: addresses to which a team sends no messages.

import { presentSuppression } from '../../api/schemas/suppression.ts'
import { ProductError } from '../../base/errors.ts'
import { clean } from '../../mime/one-line.ts'
import { NOTE_MAX } from '../../outbound/queue/suppressions.ts'
import { choiceOption, oneOf } from '../frame/choice.ts'
import { type Command, TEAM_OPTION } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const REASONS = ['bounce', 'complaint', 'manual'] as const
/** Characters of a note in a list; --json has all of it. */
const NOTE_SHOWN = 80

export const suppressionList: Command = {
  words: 'suppression list',
  summary: 'List the suppressed addresses of a team, newest first.',
  options: {
    ...TEAM_OPTION,
    reason: choiceOption('reason', REASONS),
    search: { value: 'text', says: 'a part of the address' },
    ...LIMIT_OPTION,
  },
  async run(call) {
    const reason = oneOf('reason', call.text('reason'), REASONS)
    const limit = readLimit(call)
    const { directory, outbound } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const filter = { reason, search: call.text('search'), limit, after: null }
    const page = await outbound.queue.suppressions.list(team.id, filter)
    const rows = page.items.map(presentSuppression)
    return listOutput(rows, page.next !== null, {
      none: 'No address is suppressed.',
      head: ['Address', 'Reason', 'Since', 'Note'],
      cells: (row) => [row.email, row.reason, row.created_at, clean(row.note ?? '', NOTE_SHOWN)],
    })
  },
}

export const suppressionAdd: Command = {
  words: 'suppression add',
  summary: 'Suppress an address: the team sends it no more messages.',
  operands: ['email'],
  options: { ...TEAM_OPTION, note: { value: 'text', says: 'reason, shown in the list' } },
  async run(call) {
    const note = call.text('note') ?? null
    if (note !== null && note.length > NOTE_MAX) {
      throw new ProductError('invalid_parameter', `The note is longer than ${NOTE_MAX} characters.`)
    }
    const { directory, outbound } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const { record, created } = await outbound.queue.suppressions.create(team.id, call.operands[0]!, note)
    const row = presentSuppression(record)
    const line = created
      ? `${row.email} is suppressed for ${team.name}.`
      : `${row.email} was already suppressed (${row.reason}); nothing changed.`
    return { data: row, lines: [line] }
  },
}

export const suppressionRemove: Command = {
  words: 'suppression remove',
  summary: 'Remove an address from the suppressions: the team can send to it again.',
  operands: ['email'],
  options: TEAM_OPTION,
  async run(call) {
    const email = call.operands[0]!
    const { directory, outbound } = await call.open()
    const team = chooseTeam(directory, call.text('team'))
    const found = outbound.queue.suppressions.ofAddress(team.id, email)
    if (found === undefined) throw new ProductError('not_found', `${email} is not suppressed for ${team.name}.`)
    await outbound.queue.suppressions.remove(team.id, found.id)
    const data = { id: found.id, email: found.email, team_id: team.id, deleted: true }
    return { data, lines: [`${found.email} is no longer suppressed for ${team.name}.`] }
  },
}
