// `mailstead limit-request list`, `approve`, `deny`: quota increase requests for the shared Amazon SES account.

import { type OperatorLimitRequest, presentOperatorLimitRequest } from '../../api/schemas/shared-limit.ts'
import { ProductError } from '../../base/errors.ts'
import { idPattern } from '../../base/ids.ts'
import { oneOf } from '../frame/choice.ts'
import type { Command } from '../frame/command.ts'
import { LIMIT_OPTION, listOutput, readLimit } from '../frame/limit.ts'
import { chooseTeam } from '../frame/team-choice.ts'

const STATUSES = ['pending', 'approved', 'denied', 'canceled'] as const
/** The former spelling, which is accepted. */
const FORMER = 'cancelled'
const REQUEST_ID = new RegExp(idPattern('limitRequest'))
/** Characters of what a team says for itself; --json has all of it. */
const REASON_SHOWN = 80
const NOTE_OPTION = { note: { value: 'text', says: 'shown to the team' } }

export const limitRequestList: Command = {
  words: 'limit-request list',
  summary: 'List quota increase requests of all teams or of one, newest first.',
  options: {
    team: { value: 'team', says: 'id or name of a team' },
    status: { value: 'status', says: `one of ${STATUSES.join(', ')}`, words: STATUSES, former: [FORMER] },
    ...LIMIT_OPTION,
  },
  async run(call) {
    const given = oneOf('status', call.text('status'), [...STATUSES, FORMER])
    const status = given === 'canceled' ? FORMER : given
    const limit = readLimit(call)
    const { directory, outbound } = await call.open()
    const team = call.text('team')
    const teamId = team === undefined ? undefined : chooseTeam(directory, team).id
    const page = outbound.accounts.sharedLimit.list({ teamId, status, limit, after: null })
    const rows = page.items.map(presentOperatorLimitRequest)
    return listOutput(rows, page.next !== null, {
      none: 'There are no requests.',
      head: ['Request', 'Status', 'Team', 'Limit', 'Sent', 'Requested', 'Reason'],
      cells: cellsOf,
    })
  },
}

export const limitRequestApprove: Command = {
  words: 'limit-request approve',
  summary: 'Approve the request; the new limit applies immediately.',
  operands: ['request (slir_…)'],
  options: { limit: { value: 'number', says: 'recipients a day from now on (required)' }, ...NOTE_OPTION },
  async run(call) {
    const id = checkId(call.operands[0]!)
    const text = call.text('limit')
    if (text === undefined) throw new ProductError('missing_parameter', '--limit is missing. Give the new daily limit.')
    if (!/^\d{1,9}$/.test(text)) throw new ProductError('invalid_parameter', 'The limit must be a whole number.')
    const { outbound } = await call.open()
    const decision = { approvedDailyLimit: Number(text), note: call.text('note') ?? null }
    const request = presentOperatorLimitRequest(await outbound.accounts.sharedLimit.approve(id, decision))
    return { data: request, lines: [`Team ${request.team_id} may send ${text} a day from now on.`] }
  },
}

export const limitRequestDeny: Command = {
  words: 'limit-request deny',
  summary: 'Deny the request; the team may ask again after one day.',
  operands: ['request (slir_…)'],
  options: NOTE_OPTION,
  async run(call) {
    const id = checkId(call.operands[0]!)
    const { outbound } = await call.open()
    const request = presentOperatorLimitRequest(
      await outbound.accounts.sharedLimit.deny(id, { note: call.text('note') ?? null }),
    )
    return { data: request, lines: [`The request of team ${request.team_id} is denied.`] }
  },
}

function checkId(text: string): string {
  if (!REQUEST_ID.test(text))
    throw new ProductError('invalid_parameter', `${text} is not the id of a request (slir_…).`)
  return text
}

function cellsOf(row: OperatorLimitRequest): string[] {
  const wanted = row.requested_daily_limit === null ? 'more' : String(row.requested_daily_limit)
  const { id, status, team_id, current_daily_limit: limit, current_daily_sent: sent } = row
  return [id, status, team_id, String(limit), String(sent), wanted, oneLine(row.reason ?? '')]
}

/** Text from outside must not contain terminal control characters. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').slice(0, REASON_SHOWN)
}
