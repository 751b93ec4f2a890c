// Limit requests for the shared Amazon SES account, decided by the operator.

import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { Id, listOf, Nullable, pageQuery } from '../../http/schema.ts'
import { DAILY_MAX, NOTE_MAX } from '../../outbound/providers/shared-limit-record.ts'
import { MANAGEMENT_PAGE } from '../management/pages.ts'
import { searchFilters, searchOf } from '../schemas/list-filters.ts'
import { record } from '../schemas/record.ts'
import {
  LimitRequestFilter,
  limitStatusOf,
  OperatorLimitRequest,
  presentOperatorLimitRequest,
} from '../schemas/shared-limit.ts'

const params = Type.Object({ request_id: Id('limitRequest') })
const Note = Type.Optional(Nullable(Type.String({ maxLength: NOTE_MAX, description: 'Shown to the team.' })))

const listRequests = route({
  method: 'GET',
  surface: 'operator',
  path: '/limit-requests',
  docs: {
    operation: 'listAllLimitRequests',
    tag: 'Limit requests',
    summary: 'List the limit requests of all teams, newest first',
    description: '`status` narrows the list; approve or deny one by its id.',
  },
  access: { as: 'operator' },
  query: pageQuery({
    limit: MANAGEMENT_PAGE,
    status: LimitRequestFilter,
    team_id: { ...Id('team'), description: 'Requests of this team.' },
    ...searchFilters('Part of the reason, or of the id.'),
  }),
  reply: { schema: listOf(OperatorLimitRequest) },
  handle({ query, after, app }) {
    const { status, team_id: teamId, limit } = query
    const filter = { teamId, status: limitStatusOf(status), search: searchOf(query) }
    const page = app.outbound.accounts.sharedLimit.list({ ...filter, limit, after })
    return { items: page.items.map(presentOperatorLimitRequest), next: page.next }
  },
})

const approveRequest = route({
  method: 'POST',
  surface: 'operator',
  path: '/limit-requests/{request_id}/approve',
  docs: {
    operation: 'approveLimitRequest',
    tag: 'Limit requests',
    summary: 'Approve a limit request; the new limit applies immediately',
    description: '409 when it is no longer pending.',
  },
  access: { as: 'operator' },
  params,
  body: {
    schema: record(
      'LimitApproval',
      'The new limit.',
      {
        approved_daily_limit: Type.Integer({
          minimum: 1,
          maximum: DAILY_MAX,
          description: 'Recipients a day, more than the present limit.',
        }),
        decision_note: Note,
      },
      { approved_daily_limit: 5000 },
    ),
  },
  reply: { schema: OperatorLimitRequest },
  async handle({ params: { request_id }, body, app }) {
    const decision = { approvedDailyLimit: body.approved_daily_limit, note: body.decision_note ?? null }
    return presentOperatorLimitRequest(await app.outbound.accounts.sharedLimit.approve(request_id, decision))
  },
})

const denyRequest = route({
  method: 'POST',
  surface: 'operator',
  path: '/limit-requests/{request_id}/deny',
  docs: {
    operation: 'denyLimitRequest',
    tag: 'Limit requests',
    summary: 'Deny a limit request; the team can send a new one after a day',
    description: 'The reason is shown to the team. 409 when it is no longer pending.',
  },
  access: { as: 'operator' },
  params,
  body: {
    schema: record(
      'LimitDenial',
      'An optional note for the team.',
      { decision_note: Note },
      { decision_note: 'Too early; ask again in a month.' },
    ),
    optional: true,
  },
  reply: { schema: OperatorLimitRequest },
  async handle({ params: { request_id }, body, app }) {
    const note = body?.decision_note ?? null
    return presentOperatorLimitRequest(await app.outbound.accounts.sharedLimit.deny(request_id, { note }))
  },
})

export const operatorLimitRequests = [listRequests, approveRequest, denyRequest]
